"""Cases: one file with findings, dump, executable, recording and sources that opens without a GPU."""
