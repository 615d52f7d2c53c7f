package redact

// An automaton finds many words in one pass over a text, ignoring case: that of
// Aho and Corasick, as a table. States at which words end have the highest
// numbers, so one comparison identifies them.
type automaton struct {
	class [256]uint8 // class of each byte; 0 if it is in no word
	next  []uint16   // state<<6 | class → next state
	hot   int        // first state at which words end
	found [][]int    // by state-hot: numbers of the words that end there, longest first
}

// step returns the state that follows state on b.
func (a *automaton) step(state int, b byte) int {
	return int(a.next[state<<6|int(a.class[b])])
}

// ends reports whether words end at a state.
func (a *automaton) ends(state int) bool { return state >= a.hot }

// at returns the numbers of the words that end at a state, longest first.
func (a *automaton) at(state int) []int { return a.found[state-a.hot] }

// jsonNode is a state during construction of the automaton.
type jsonNode struct {
	next [64]uint16 // 0 means none
	fail uint16
	ends []int
}

// newAutomaton returns the automaton for words, which are in lower case and
// have fewer than 64 different bytes.
func newAutomaton(words []string) *automaton {
	a := &automaton{}
	size := 1
	for _, w := range words {
		size += len(w)
	}
	nodes, classes := make([]jsonNode, 1, size), uint8(0)
	for n, w := range words {
		at := uint16(0)
		for _, b := range []byte(w) {
			if a.class[b] == 0 {
				classes++
				a.class[b] = classes
			}
			c := a.class[b]
			if nodes[at].next[c] == 0 {
				nodes = append(nodes, jsonNode{})
				nodes[at].next[c] = uint16(len(nodes) - 1)
			}
			at = nodes[at].next[c]
		}
		nodes[at].ends = append(nodes[at].ends, n)
	}
	for b := 'a'; b <= 'z'; b++ {
		a.class[b-'a'+'A'] = a.class[b]
	}
	link(nodes)
	a.number(nodes)
	return a
}

// link completes the steps of every node: a missing step goes where the longest
// proper suffix of what was read goes.
func link(nodes []jsonNode) {
	queue := make([]uint16, 0, len(nodes))
	for _, n := range nodes[0].next {
		if n != 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		fail := nodes[at].fail
		nodes[at].ends = append(nodes[at].ends, nodes[fail].ends...)
		for c, n := range nodes[at].next {
			if n == 0 {
				nodes[at].next[c] = nodes[fail].next[c]
				continue
			}
			nodes[n].fail = nodes[fail].next[c]
			queue = append(queue, n)
		}
	}
}

// number makes the table, with the nodes at which words end last.
func (a *automaton) number(nodes []jsonNode) {
	state := make([]int, len(nodes))
	for i := range nodes {
		if len(nodes[i].ends) == 0 {
			state[i] = a.hot
			a.hot++
		}
	}
	for i := range nodes {
		if len(nodes[i].ends) > 0 {
			state[i] = a.hot + len(a.found)
			a.found = append(a.found, nodes[i].ends)
		}
	}
	a.next = make([]uint16, len(nodes)<<6)
	for i := range nodes {
		for c, n := range nodes[i].next {
			a.next[state[i]<<6|c] = uint16(state[n])
		}
	}
}
