"""Everything that talks to a tool, a device or a job. No module here knows of a screen."""
