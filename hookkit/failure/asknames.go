package failure

import (
	"context"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// knownNames are what the server knows around a name that does not resolve.
type knownNames struct {
	names      []string // what resolves in the namespace, of about the same length
	own        []string // which of them the namespace has of its own
	publics    []string // what is public in the target, likewise
	target     string   // the namespace that the name's alias stands for
	aliases    []string // of the namespace, each before the namespace that it stands for
	in         []string // namespaces with a public of exactly this name
	namespaces []string // names of all that are loaded, of about the length of the alias
}

// written is how a namespace's names are written here: its alias, "" if it is not required.
func (k knownNames) written(ns string) string {
	for i := 0; i+1 < len(k.aliases); i += 2 {
		if k.aliases[i+1] == ns {
			return k.aliases[i]
		}
	}
	return ""
}

// namesQuestion asks for knownNames of {bare} as in {alias}/{bare}, in the namespace {ns}.
const namesQuestion = `(%let [e %*e
  like (%fn [n names] (%vec (%take 600 (%filter (%fn [s] (%<= (%- n {slack}) (%count s) (%+ n {slack}))) (%map %str names)))))
  known (try (%let [n (%or (%find-ns (%symbol {ns})) %*ns*)
                    as (%ns-aliases n)
                    t (%when-not (%= "" {alias}) (%or (%get as (%symbol {alias})) (%find-ns (%symbol {alias}))))
                    b (%symbol {bare})]
    {:names (like {length} (%keys (%ns-map n)))
     :own (like {length} (%keys (%ns-interns n)))
     :publics (%when t (like {length} (%keys (%ns-publics t))))
     :target (%when t (%str (%ns-name t)))
     :aliases (%vec (%mapcat (%fn [[k v]] [(%str k) (%str (%ns-name v))]) (%take 200 (%sort-by %key as))))
     :in (%when-not t (%vec (%take 8 (%sort (%map %str (%map %ns-name (%filter (%fn [x] (%contains? (%ns-publics x) b)) (%all-ns))))))))
     :namespaces (like {nslength} (%map %ns-name (%all-ns)))})
   (catch Throwable t nil))]
  (%when e
    (%binding [%*print-length* nil %*print-level* nil %*print-meta* false %*print-readably* true]
      (%print (%pr-str known)) (%flush))
    (throw e)))`

// askNames asks the server; the zero value is what is known where it cannot be asked.
func (x *explainer) askNames(ctx context.Context, r report, ns, alias, bare string) knownNames {
	if !r.asks || x.session == nil {
		return knownNames{}
	}
	if ns == "" {
		ns = "-" // no namespace has this name: the current one
	}
	answer := x.ask(ctx, namesQuestion,
		"{ns}", clj.QuoteString(ns), "{alias}", clj.QuoteString(alias), "{bare}", clj.QuoteString(bare),
		"{length}", strconv.Itoa(len(bare)), "{nslength}", strconv.Itoa(len(alias)),
		"{slack}", strconv.Itoa(max(1, max(len(alias), len(bare))/3)),
	)
	return knownNames{
		names: texts(answer.Get("names")), own: texts(answer.Get("own")), publics: texts(answer.Get("publics")), target: textAt(answer, "target"),
		aliases: texts(answer.Get("aliases")), in: texts(answer.Get("in")), namespaces: texts(answer.Get("namespaces")),
	}
}

// texts gives the strings of a vector.
func texts(n *clj.Node) []string {
	if n == nil {
		return nil
	}
	var all []string
	for _, child := range n.Children {
		if s, ok := child.Str(); ok {
			all = append(all, s)
		}
	}
	return all
}

// arglistsQuestion asks for the parameters of a var.
const arglistsQuestion = `(%let [e %*e
  lists (try (:arglists (%meta (%resolve (%symbol {name})))) (catch Throwable t nil))]
  (%when e (%print (%pr-str {:arglists (%mapv %pr-str lists)})) (%flush) (throw e)))`

// askArglists gives a function's parameters as "[x] or [x y]", "" where it is not known.
func (x *explainer) askArglists(ctx context.Context, r report, name string) string {
	if !r.asks || x.session == nil {
		return ""
	}
	lists := strings.Join(texts(x.ask(ctx, arglistsQuestion, "{name}", clj.QuoteString(name)).Get("arglists")), " or ")
	if len(lists) > maxData {
		return ""
	}
	return lists
}
