package clj

// learn counts the habits of balanced pieces.
func (s *style) learn(src []byte, pieces []piece) {
	w := walker{src: src, pieces: pieces, frames: s.frames[:0]}
	defer func() { s.frames = w.frames }()
	st := searchState{sibling: -1, inner: -1}
	for i := range pieces {
		p := &pieces[i]
		if p.kind == TokenClose {
			if st.closer() == 0 {
				return // not balanced after all
			}
			s.learnClose(&w, &st, i)
			st.pop()
			w.formEnds(&st)
			continue
		}
		if !st.afterPrefix() {
			s.learnForm(&st, p, pieces[max(i-1, 0)].line)
		}
		w.lineStarts(&st, p)
		w.take(&st, i)
	}
}

// learnForm learns that a form that starts with p comes next; line is the one before p.
func (s *style) learnForm(st *searchState, p *piece, line int32) {
	next := onSameLine
	if p.first {
		next = onNewLine
	}
	s.turnCounts(st, line)[next]++
	s.classCounts(st)[classOf(p)]++
	s.pairs[st.shape()][st.earlier][st.last][classOf(p)]++
	if st.top == nil {
		return
	}
	r := relate(st.top, st.sibling, st.inner, p.left)
	if p.first {
		s.indents[st.top.shape][b2i(st.sibling >= 0)][r]++
	}
	if st.top.head == 0 {
		return
	}
	w := s.word(st.top.head)
	if p.first && st.sibling < 0 {
		w.line[r]++
	}
	if seen := s.argCounts(st); seen != nil {
		seen[classOf(p)]++
	}
}

// learnClose learns that the innermost form ends with the i-th piece.
func (s *style) learnClose(w *walker, st *searchState, i int) {
	s.turnCounts(st, w.pieces[i-1].line)[ending]++
	if st.top.head != 0 {
		s.learnArity(st.top.head, st.argCount(), 1)
	}
	if st.top.shape == inParameters {
		s.learnParameters(w, st, i)
	}
}

func (s *style) learnArity(head uint64, count int, weight float64) {
	n := min(max(count, 0), arities-1)
	s.word(head).arity[n] += weight
	s.usual[n] += weight
}

// learnParameters learns how many arguments a function takes, from the vector of its parameters that ends at the i-th piece.
func (s *style) learnParameters(w *walker, st *searchState, i int) {
	f := st.opener()
	around := f.parent
	if around == nil {
		return
	}
	name := around.piece + 2 // (defn name [a])
	switch {
	case around.lead == leadsParameters && around.parent == nil:
	case around.parent == nil || around.parent.lead != leadsParameters || around.parent.parent != nil:
		return // a function without a name, or not one for the whole text
	case f.piece == around.piece+1:
		name = around.parent.piece + 2 // (defn name ([a]))
	default:
		name = around.piece + 1 // (defprotocol P (name [a]))
	}
	for k := int(f.piece) + 1; k < i; k++ {
		if w.pieces[k].end-w.pieces[k].start == 1 && w.src[w.pieces[k].start] == '&' {
			return
		}
	}
	if p := &w.pieces[name]; p.kind == TokenAtom {
		s.learnArity(wordHash(w.src[p.start:p.end]), int(st.count), 2)
	}
}

// learnRoles counts where words stand. It needs no balance.
func (s *style) learnRoles(src []byte, pieces []piece) {
	for i := range pieces {
		p := &pieces[i]
		if p.kind != TokenAtom || p.keyword {
			continue
		}
		w := s.word(wordHash(src[p.start:p.end]))
		if isHead(pieces, i) {
			w.roles[0]++
		} else {
			w.roles[1]++
		}
	}
}
