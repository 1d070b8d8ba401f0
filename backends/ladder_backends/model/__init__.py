"""What tools say, as frozen values: no raw MI, no XML, no widget."""
