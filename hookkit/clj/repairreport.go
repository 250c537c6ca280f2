package clj

// Report is the verdict on the delimiters of a text.
type Report struct {
	Valid             bool
	Error             string // the message of the first error
	Line, Column      int    // where it is, from 1
	ExpectedDelimiter string // what was expected there; "" where that is not known
}

// Validate reports the first fault in the delimiters of a Clojure or EDN text.
func Validate(src []byte) Report {
	errs := CheckDelimiters("", src)
	if len(errs) == 0 {
		return Report{Valid: true}
	}
	first := errs[0]
	return Report{Error: first.Message, Line: first.Pos.Line, Column: first.Pos.Column, ExpectedDelimiter: first.Expected}
}
