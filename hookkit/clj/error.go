package clj

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/hookkit/brepl/hookkit/text"
)

// Error is one fault in a text.
type Error struct {
	File      string // as given to the reader; may be empty
	Pos       Pos    // where reading failed; an error at the end of input stands at the end of the text
	Message   string // without the place; it names the other places it speaks of
	Why       string // the end of Message that says what fits where a delimiter does not; empty for other errors
	Found     string // the delimiter at Pos that does not fit; empty for other errors
	Expected  string // the delimiter that was expected, such as ")" or "\""; empty where none was
	Opener    string // the delimiter or prefix that still waits, such as "(", "\"" or "#_"; empty where there is none
	OpenerPos Pos    // where Opener stands; zero where there is none
	Related   Pos    // another place the message speaks of, such as the first of two equal keys; zero where there is none

	// Incomplete says that the text ended too early: with more text it could be read.
	Incomplete bool
}

// Error gives file:line:column: message.
func (e *Error) Error() string {
	return e.File + ":" + strconv.Itoa(e.Pos.Line) + ":" + strconv.Itoa(e.Pos.Column) + ": " + e.Message
}

// ErrorList holds the errors of one text, in the order of their places.
type ErrorList []*Error

// Error gives the first error and how many more there are.
func (l ErrorList) Error() string {
	switch len(l) {
	case 0:
		return "no errors"
	case 1:
		return l[0].Error()
	case 2:
		return l[0].Error() + " (and 1 more error)"
	}
	return l[0].Error() + " (and " + strconv.Itoa(len(l)-1) + " more errors)"
}

// Err gives the list as an error, nil when it is empty.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Unwrap gives each error, for errors.As.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// maxErrors bounds an ErrorList. A longer list helps nobody, and a file of 10 MB could fill the memory with it.
const maxErrors = 10_000

// collector gathers the errors of one text.
type collector struct {
	file    string
	locator *locator
	errors  ErrorList
	dropped int
}

// add files an error.
func (c *collector) add(offset int, message string) { _ = c.addError(offset, message) }

// addError files an error and returns it, for more to be said in it; nil when there are too many already. What its message quotes of the
// source is escaped.
func (c *collector) addError(offset int, message string) *Error {
	if len(c.errors) == maxErrors {
		c.dropped++
		return nil
	}
	e := &Error{File: c.file, Pos: c.locator.at(offset), Message: text.Escaped(message, "")}
	c.errors = append(c.errors, e)
	return e
}

// list gives what was gathered, sorted by place. Errors at one place keep the order in which they were found.
func (c *collector) list() ErrorList {
	slices.SortStableFunc(c.errors, func(a, b *Error) int { return cmp.Compare(a.Pos.Offset, b.Pos.Offset) })
	if c.dropped > 0 {
		c.errors = append(c.errors, &Error{
			File: c.file, Pos: c.locator.at(len(c.locator.src)),
			Message: strconv.Itoa(c.dropped) + " more errors are not listed",
		})
	}
	return c.errors
}
