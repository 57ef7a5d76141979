"""Each question once: its arguments, and what every interface calls them and says about them."""
