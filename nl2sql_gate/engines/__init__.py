"""Database products behind the `Engine` protocol. Each module is imported when its entry point is loaded, not before."""
