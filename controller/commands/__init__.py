"""One file per group of commands; `controller.cli` finds them when they are asked for."""
