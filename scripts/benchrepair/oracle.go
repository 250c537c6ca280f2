package main

import (
	"bufio"
	"bytes"
	_ "embed" // for oracleProgram
	"encoding/binary"
	"fmt"
	"os/exec"
)

//go:embed oracle.clj
var oracleProgram string

// oracle is Clojure's own reader: it says whether repaired texts read as the originals do. One process answers all at the end.
type oracle struct {
	input     bytes.Buffer
	questions []question
}

// question is a repaired text that is not the original byte for byte.
type question struct {
	tally      *tally
	ours       bool // what our reader says
	kind, name string
}

// hear notes a verdict. What is equal byte for byte, and what was refused, needs no other judge.
func (o *oracle) hear(t *tally, c testCase, v verdict, want string) {
	if v.text || v.refused != "" {
		t.Clojure += b2i(v.text)
		return
	}
	o.questions = append(o.questions, question{tally: t, ours: v.form, kind: c.kind, name: c.name})
	for _, text := range []string{want, string(v.result.Text)} {
		var size [4]byte
		binary.BigEndian.PutUint32(size[:], uint32(len(text)))
		o.input.Write(size[:])
		o.input.WriteString(text)
	}
}

// answer runs Clojure and fills in the tallies. It gives the cases where the two readers disagree. Where Clojure cannot read the
// original, ours counts.
func (o *oracle) answer(classpath string) (differ []string, err error) {
	java := exec.Command("java", "-XX:+UseSerialGC", "-Xss64m", "-cp", classpath, "clojure.main", "-e", "(do "+oracleProgram+"\nnil)")
	java.Stdin = &o.input
	var stderr bytes.Buffer
	java.Stderr = &stderr
	out, err := java.Output()
	if err != nil {
		return nil, fmt.Errorf("clojure: %w: %s", err, stderr.String())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for _, q := range o.questions {
		var line string
		if lines.Scan() {
			line = lines.Text()
		}
		var same bool
		switch line {
		case "same":
			same = true
		case "different", "unreadable right":
		case "unreadable left":
			same = q.ours
		default:
			return nil, fmt.Errorf("clojure answered %q for %s %s", line, q.kind, q.name)
		}
		q.tally.Clojure += b2i(same)
		if same != q.ours {
			differ = append(differ, fmt.Sprintf("%s %s: ours says equal: %v, Clojure: %s", q.kind, q.name, q.ours, line))
		}
	}
	return differ, nil
}
