"""Parts that several pages share, and the frame around every page."""
