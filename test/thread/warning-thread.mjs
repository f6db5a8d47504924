process.emitWarning("old\nways", "DeprecationWarning", "DEP9");
