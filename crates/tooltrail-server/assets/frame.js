// The frame's script: theme and keys.
