package cli

// Style colours text for a terminal. The zero value leaves text as it is.
type Style struct{ on bool }

// Color returns the style for a stream: coloured if the stream is a terminal that can, and NO_COLOR is not set (https://no-color.org).
func (p *Program) Color(stream any) Style {
	return Style{on: p.Terminal(stream) && p.Getenv("NO_COLOR") == "" && p.Getenv("TERM") != "dumb"}
}

// Bold makes text bold.
func (s Style) Bold(text string) string { return s.wrap("1", text) }

// Dim makes text faint.
func (s Style) Dim(text string) string { return s.wrap("2", text) }

// Red makes text red: a failure.
func (s Style) Red(text string) string { return s.wrap("31", text) }

// Green makes text green: a success.
func (s Style) Green(text string) string { return s.wrap("32", text) }

// Yellow makes text yellow: a warning.
func (s Style) Yellow(text string) string { return s.wrap("33", text) }

func (s Style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
