# One line a variant: NAME stands for plugins/NAME.hip, built for every target.

