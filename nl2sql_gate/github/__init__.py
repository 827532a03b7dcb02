"""GitHub as this package meets it: workflow commands, files of a step, the event, limits, comments, redaction."""
