package fault

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// FlagText says what is wrong with a flag, in the style of our own checks.
func FlagText(err error) string {
	var value *pflag.InvalidValueError
	var needs *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		return fmt.Sprintf("--%s %q: %s", value.GetFlag().Name, value.GetValue(), wanted(value.GetFlag()))
	case errors.As(err, &needs):
		return fmt.Sprintf("--%s needs a value", needs.GetFlag().Name)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == unknown.GetSpecifiedName():
		return fmt.Sprintf("no flag -%s", unknown.GetSpecifiedName())
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Sprintf("no flag -%s in -%s", unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		return fmt.Sprintf("no flag --%s", unknown.GetSpecifiedName())
	}
	return err.Error()
}

// wanted says what a flag's value must be.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "uint64":
		return "want a whole number"
	case "float64":
		return "want a number"
	case "duration":
		return "want a time like 500ms, 10s or 2m"
	case "bool":
		return "want true or false"
	}
	return "want a " + f.Value.Type()
}
