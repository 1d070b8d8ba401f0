"""One state of what is being debugged, the user's intents, and the jump; screens and headless commands use it alike."""
