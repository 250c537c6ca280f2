package triage

import "testing"

// BenchmarkAnalyse is the work on a short ordinary session, beside starting and reading.
func BenchmarkAnalyse(b *testing.B) {
	var c conversation
	for i := range 50 {
		m := message{agent: i%2 == 1, at: i - 100, text: "Can you show me where the total is computed, and which tests cover it?"}
		if m.agent {
			m.text = "The endpoint reads the order and returns its lines with the prices in cents. I looked at the callers, there are three of them in the checkout module."
		}
		c.messages = append(c.messages, m)
	}
	e, err := newEngine(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.analyse(&c)
	}
}
