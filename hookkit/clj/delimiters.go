package clj

import "strconv"

// maxOpen bounds what CheckDelimiters keeps open at once, and with it the memory it takes. Clojure itself gives up at a few thousand.
const maxOpen = 1_000_000

// CheckDelimiters reports what is wrong with the balance of a Clojure or EDN text: closers that match nothing, closers that are not
// the expected ones, openers, strings, regexes and characters that never end, and prefixes without their form. It reads no values. An
// empty list means that Clojure can read the text as far as delimiters go.
//
// Errors come in the order of their places. An error at the end of the text stands at the end of the text and names the place of the
// opener in OpenerPos; the innermost opener comes first. Each opener is named by at most one error. The list ends after 10,000
// errors, with one that says how many more there are. A text with more than 1,000,000 delimiters open at once is an error there, and
// what follows is not looked at.
func CheckDelimiters(file string, src []byte) ErrorList {
	var errs *collector
	n := nesting{src: src, max: maxOpen}
	n.report = func(f fault) {
		if errs == nil {
			errs = &collector{file: file, locator: newLocator(src)}
		}
		errs.addFault(f, maxOpen)
	}
	n.run()
	if errs == nil {
		return nil
	}
	return errs.list()
}

// addFault files an error for a fault in the nesting. The messages start as Clojure's do.
func (c *collector) addFault(f fault, maxDepth int) {
	e := c.addError(f.at, "")
	if e == nil {
		return
	}
	src := c.locator.src
	where := ""
	if f.kind != unmatchedCloser && f.kind != tooDeep {
		start, end := f.opener.start, f.opener.end
		switch {
		case f.opener.kind == TokenOpen:
			start = end - 1 // the delimiter itself: of #{ the {
		case f.kind == unfinishedToken && f.opener.kind == TokenChar:
			end = start + 1
		case f.kind == unfinishedToken && f.opener.kind == TokenRegex:
			end = start + 2
		case f.kind == unfinishedToken:
			end = start + 1
		}
		e.Opener = string(src[start:end])
		e.OpenerPos = c.locator.at(start)
		where = e.Opener + " at " + placeWords(e.OpenerPos)
	}
	since := ", starting at line " + strconv.Itoa(e.OpenerPos.Line) + ": "
	switch f.kind {
	case unmatchedCloser:
		e.Why = "nothing is open here"
	case mismatchedCloser:
		e.Expected = string(f.opener.closer)
		e.Why = "expected " + e.Expected + " to match " + where
	case danglingPrefix:
		e.Why = "expected a form after " + where
	case unclosedOpener:
		e.Incomplete = true
		e.Expected = string(f.opener.closer)
		e.Message = "EOF while reading" + since + "expected " + e.Expected + " to match " + where
	case unfinishedPrefix:
		e.Incomplete = true
		e.Message = "EOF while reading" + since + "expected a form after " + where
	case unfinishedToken:
		e.Incomplete = true
		switch f.opener.kind {
		case TokenChar:
			e.Message = "EOF while reading character" + since + "expected a character after " + where
		case TokenRegex:
			e.Expected = `"`
			e.Message = "EOF while reading regex" + since + `expected " to end the regex that starts with ` + where
		default:
			e.Expected = `"`
			e.Message = "EOF while reading string" + since + `expected " to match ` + where
		}
	case tooDeep:
		e.Message = "Nested too deep: more than " + strconv.Itoa(maxDepth) + " delimiters and prefixes are open here; reading stopped"
	}
	if e.Why != "" {
		e.Found = string(src[f.at])
		e.Message = "Unmatched delimiter: " + e.Found + ", " + e.Why
	}
}

// placeWords names a place in a sentence.
func placeWords(p Pos) string {
	return "line " + strconv.Itoa(p.Line) + ", column " + strconv.Itoa(p.Column)
}
