"""One state of what is debugged, the user's intents, and the jump; screens and headless commands use it alike."""
