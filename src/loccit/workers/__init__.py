"""Workers: processes of our own, with limits on what they may take."""
