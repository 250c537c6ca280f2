; The runner that brepl sends, evaluated in clojure.core, with nothing left behind on the server. It takes a request, see run.go, and a
; function that tells an exception as data, and prints an event a line, see event.go.
(fn [{:keys [mark namespaces pattern only focus skip limit]} exception-data]
  (let [out *out*
        lock (Object.)
        ^Thread main (Thread/currentThread)
        now (fn [] (quot (System/nanoTime) 1000000))
        began (now)
        emit (fn [m]
               (locking lock
                 (binding [*out* out *print-length* nil *print-level* nil *print-meta* false *print-dup* false *print-readably* true
                           *print-namespace-maps* false]
                   (print (str mark (pr-str m) "\n"))
                   (flush))))
        cut (fn [n s] (let [s (str s)] (if (< n (count s)) (str (subs s 0 n) "…") s)))

        ;; Values are printed within a budget of characters, however large, deep or endless they are.
        scalar (fn [x n]
                 (if (string? x)
                   (if (< n (count x)) (str (pr-str (subs x 0 n)) "…") (pr-str x))
                   (try (cut n (binding [*print-length* 20 *print-level* 4 *print-meta* false *print-dup* false *print-readably* true *print-namespace-maps* false]
                                 (pr-str x)))
                        (catch Throwable t (str "#<" (.getName ^Class (class x)) " that cannot be printed: " (.getName ^Class (class t)) ">")))))
        show (fn [x budget]
               (let [left (volatile! budget)
                     items (fn items [walk depth separated xs]
                             (loop [xs (seq xs) parts []]
                               (cond (nil? xs) parts
                                     (or (<= @left 0) (< 200 (count parts))) (conj parts "…")
                                     :else (recur (next xs) (conj parts (walk (first xs) depth))))))
                     join (fn [open parts close] (vswap! left - 2) (str open (apply str (interpose " " parts)) close))
                     walk (fn walk [x depth]
                            (cond
                              (or (<= @left 0) (< 20 depth)) "…"
                              (record? x) (join (str "#" (.getName ^Class (class x)) "{") (items walk (inc depth) nil (mapcat identity x)) "}")
                              (map? x) (join "{" (items walk (inc depth) nil (mapcat identity x)) "}")
                              (set? x) (join "#{" (items walk (inc depth) nil x) "}")
                              (vector? x) (join "[" (items walk (inc depth) nil x) "]")
                              (seq? x) (join "(" (items walk (inc depth) nil x) ")")
                              :else (let [s (scalar x (max 1 (min 400 @left)))] (vswap! left - (inc (count s))) s)))]
                 (try (cut (+ budget 100) (walk x 0))
                      (catch Throwable t (str "(not printable: " (cut 200 t) ")")))))

        ;; Where two values differ: [path in the first, in the second], at most some.
        none (Object.)
        differences
        (fn differences [path a b]
          (cond
            (= a b) nil
            (< 20 (count path)) [[path a b]]
            (and (map? a) (map? b) (= (record? a) (record? b)))
            (mapcat (fn [k] (let [x (get a k none) y (get b k none)]
                              (if (or (identical? none x) (identical? none y)) [[(conj path k) x y]] (differences (conj path k) x y))))
                    (take 5000 (concat (keys a) (remove (fn [k] (contains? a k)) (keys b)))))
            (and (set? a) (set? b))
            (concat (map (fn [x] [path x none]) (remove (fn [x] (contains? b x)) a))
                    (map (fn [x] [path none x]) (remove (fn [x] (contains? a x)) b)))
            (and (sequential? a) (sequential? b))
            ((fn step [i a b]
               (lazy-seq
                (let [a (seq a) b (seq b)]
                  (when (and (or a b) (< i 5000))
                    (concat (cond (nil? a) [[(conj path i) none (seq b)]]
                                  (nil? b) [[(conj path i) (seq a) none]]
                                  :else (differences (conj path i) (first a) (first b)))
                            (when (and a b) (step (inc i) (rest a) (rest b))))))))
             0 a b)
            :else [[path a b]]))
        window (fn [s at] (let [from (max 0 (- at 20)) to (min (count s) (+ at 60))]
                            (str (if (pos? from) "…") (pr-str (subs s from to)) (if (< to (count s)) "…"))))
        side (fn [x] (if (identical? none x) nil (show x 160)))
        difference (fn [[path a b]]
                     (if (and (string? a) (string? b) (< 30 (max (count a) (count b))))
                       (let [at (count (take-while true? (map = a b)))]
                         {:path (show path 120) :at at :line (inc (count (filter (fn [c] (= \newline c)) (take at a))))
                          :a (window a at) :b (window b at)})
                       {:path (show path 120) :a (side a) :b (side b)}))
        diff (fn [actual]
               (try
                 (when (and (seq? actual) (= 'not (first actual)) (seq? (second actual)))
                   (let [[f a b & more :as call] (second actual)]
                     (when (and (contains? #{'= 'clojure.core/=} f) (= 3 (count call)) (nil? more)
                                (or (and (coll? a) (coll? b)) (and (string? a) (string? b))))
                       (vec (map difference (take 13 (differences [] a b)))))))
                 (catch Exception t nil)))

        ;; What a test prints is kept, the end of it, and shown if it fails.
        bounded (fn [^java.io.StringWriter w]
                  (try (let [b (.getBuffer w)] (when (< 200000 (.length b)) (.delete b 0 (- (.length b) 100000))))
                       (catch Exception t nil)))
        kept (fn [w] (let [s (str w) n (count s)] (if (< 2000 n) (str "…" (subs s (- n 2000))) s)))

        loaded? (fn [sym] (and (find-ns sym) (contains? (loaded-libs) sym)))
        on-path? (fn [files] (some (fn [f] (clojure.java.io/resource f)) files))
        wanted (vec (filter (fn [n] (or (nil? pattern) (re-find (re-pattern pattern) (:name n)))) namespaces))
        missing (vec (remove (fn [n] (or (loaded? (symbol (:name n))) (on-path? (:files n)))) wanted))
        lost (set (map :name missing))
        present (vec (remove (fn [n] (contains? lost (:name n))) wanted))

        counts (atom {})
        add (fn [k] (swap! counts update k (fnil inc 0)))
        state (atom {})           ; of the running test: :ns :var :out :failures
        sent (atom 0)             ; failures that were sent whole
        deadline (atom nil)       ; of the running namespace, in ms
        expired (atom false)      ; its limit is over
        done (atom false)
        told (fn [m]
               (let [actual (:actual m)]
                 {:type (:type m)
                  :file (cut 500 (:file m)) :line (:line m)
                  :contexts (vec (map (fn [c] (cut 300 c)) (reverse clojure.test/*testing-contexts*)))
                  :message (if (some? (:message m)) (cut 1000 (:message m)))
                  :expected (if (contains? m :expected) (show (:expected m) 600))
                  :actual (if (and (contains? m :actual) (not (instance? Throwable actual))) (show actual 700))
                  :diff (diff actual)
                  :exception (if (instance? Throwable actual) (exception-data actual))}))
        failed (fn [m]
                 (add (:type m))
                 (if (< 60 (swap! sent inc))
                   (swap! state update :more (fnil inc 0))
                   (swap! state update :failures (fnil conj [])
                          (try (told m) (catch Exception t {:type (:type m) :message (str "this failure cannot be told: " (cut 300 t))})))))
        flush-test (fn []
                     (let [s @state]
                       (when (or (:failures s) (:more s))
                         (emit {:event :test :ns (:ns s) :test (if (:var s) (str (:name (meta (:var s)))))
                                :file (if (:var s) (cut 500 (:file (meta (:var s))))) :line (if (:var s) (:line (meta (:var s))))
                                :failures (:failures s []) :more (:more s 0)
                                :out (if (:out s) (kept (:out s)))}))
                       (swap! state dissoc :failures :more)))
        over? (fn [t] (contains? #{"java.lang.ThreadDeath" "java.lang.InterruptedException"} (.getName ^Class (class t))))
        ends? (fn [t] (when (over? t) (when-not @expired (swap! state assoc :halt true)) true))
        original clojure.test/report
        report-with (fn [original] (fn [m]
                 (when (:out @state) (bounded (:out @state)))
                 (case (:type m)
                   :pass (add :pass)
                   :fail (failed m)
                   :error (when-not (ends? (:actual m)) (failed m))
                   :begin-test-var (do (flush-test)
                                       (add :test)
                                       (swap! state assoc :var (:var m))
                                       (swap! state update :ran (fnil conj []) (str (:name (meta (:var m))))))
                   :end-test-var (do (flush-test) (swap! state assoc :var (second clojure.test/*testing-vars*)))
                   (:begin-test-ns :end-test-ns :summary) nil
                   ;; A type of a library: its own method counts and prints.
                   (let [before @clojure.test/*report-counters*
                         w (java.io.StringWriter.)]
                     (binding [clojure.test/*test-out* w *out* w] (original m))
                     (let [after @clojure.test/*report-counters*
                           more (fn [k] (- (get after k 0) (get before k 0)))]
                       (cond (pos? (+ (more :fail) (more :error)))
                             (failed {:type (if (pos? (more :error)) :error :fail) :message (kept w) :file (:file m) :line (:line m)})
                             (pos? (more :pass)) (add :pass)))))))
        matches? (fn [ks & metas] (some (fn [k] (some (fn [m] (get m k)) metas)) ks))
        chosen? (fn [n names v]
                  (let [m (meta v)]
                    (and (:test m)
                         (or (nil? names) (contains? names (str (:name m))))
                         (or (empty? focus) (matches? focus m (meta n)))
                         (not (matches? skip m (meta n))))))
        with-output (fn [f]
                      (let [w (java.io.StringWriter.)]
                        (swap! state assoc :out w)
                        (binding [*out* w clojure.test/*test-out* w *err* (java.io.PrintWriter. w true)] (f))))
        halt? (fn [] (or @expired (:halt @state)))
        guard (fn [v what f]       ; what is thrown outside of a test is an error of the var, or of the namespace
                (try (f)
                     (catch Throwable t
                       (when-not (ends? t)
                         (flush-test)
                         (swap! state assoc :var v)
                         (failed {:type :error :message what :actual t})))
                     (finally (flush-test) (swap! state dissoc :var))))
        run-var (fn [each v]
                  (when-not (halt?)
                    (swap! state assoc :var v)
                    (with-output
                      (fn [] (guard v "around the test: in an :each fixture"
                                    (fn [] (each (fn [] (clojure.test/test-var v)))))))
                    (when (Thread/interrupted) (when-not @expired (swap! state assoc :halt true)))))
        run-ns (fn [n names]
                 (let [hook (resolve (symbol (str (ns-name n)) "test-ns-hook"))
                       all (sort-by (fn [v] [(or (:line (meta v)) 0) (str (:name (meta v)))]) (vals (ns-interns n)))
                       vars (filter (fn [v] (chosen? n names v)) all)]
                   (cond
                     (and hook (nil? names) (empty? focus) (empty? skip))
                     (with-output (fn [] (guard nil "in test-ns-hook" (fn [] (@hook)))))
                     (seq vars)
                     (let [once (clojure.test/join-fixtures (:clojure.test/once-fixtures (meta n)))
                           each (clojure.test/join-fixtures (:clojure.test/each-fixtures (meta n)))]
                       (with-output
                         (fn [] (guard nil "in a :once fixture"
                                       (fn [] (once (fn [] (doseq [v vars] (run-var each v)))))))))
                     :else nil)))
        frames (fn [^Thread t] (mapv (fn [^StackTraceElement f] [(.getClassName f) (.getMethodName f) (.getFileName f) (.getLineNumber f)]) (take 60 (.getStackTrace t))))
        ;; A namespace over its limit is interrupted, so that the others still run.
        slow (atom nil)            ; the test that ran at the last look, and whether it was named
        look (fn []
               (let [v (:var @state) [seen named] @slow]
                 (cond (or (nil? v) (not= v seen)) (reset! slow [v false])
                       (not named) (do (reset! slow [v true])
                                       (emit {:event :running :ns (:ns @state) :test (str (:name (meta v)))})))))
        watch (fn []
                (loop [waited 0]
                  (when-not @done
                    (Thread/sleep 50)
                    (look)
                    (let [d @deadline]
                      (cond
                        (or (nil? d) (< (now) d)) (recur 0)
                        (zero? waited)
                        (do (emit {:event :late :ns (:ns @state) :test (if (:var @state) (str (:name (meta (:var @state)))))
                                   :frames (try (frames main) (catch Throwable t []))})
                            (reset! expired true)
                            (.interrupt main)
                            (recur 1))
                        (= 40 waited)
                        (do (try (.stop main) (catch Throwable t (emit {:event :stuck}))) (recur (inc waited)))
                        :else (recur (inc waited)))))))]
    ;; A namespace whose load failed is gone, but Clojure believes that it is loaded.
    (try (when-let [libs (resolve 'clojure.core/*loaded-libs*)]
           (dosync (alter @libs (fn [known] (apply disj known (remove find-ns known))))))
         (catch Throwable t nil))
    (emit {:event :plan :namespaces (mapv :name present) :missing (mapv :name missing) :unmatched (- (count namespaces) (count wanted))})
    (when limit (doto (Thread. ^Runnable watch) (.setDaemon true) (.start)))
    (try
      (binding [*ns* (create-ns 'user)]
        (doseq [{:keys [name]} present
                :when (not (:halt @state))]
          (let [sym (symbol name) start (now)]
            (reset! counts {})
            (reset! expired false)
            (reset! state {:ns name})
            (emit {:event :begin :ns name})
            (reset! deadline (if limit (+ start limit)))
            ;; With clojure.test as it is: a namespace may extend its report.
            (with-output
              (fn [] (try (when-not (loaded? sym) (require sym :reload))
                          (the-ns sym)
                          (catch Throwable t
                            (when-not (ends? t)
                              (swap! state assoc :broken true)
                              (failed {:type :error :message "cannot be loaded" :actual t})
                              (flush-test))))))
            (when-not (or (:broken @state) (halt?))
              (binding [clojure.test/report (report-with clojure.test/report)
                        clojure.test/*report-counters* (ref clojure.test/*initial-report-counters*)
                        clojure.test/*testing-vars* (list)
                        clojure.test/*testing-contexts* (list)]
                (run-ns (the-ns sym) (if-let [names (get only name)] (set names)))))
            (reset! deadline nil)
            (Thread/interrupted)
            (emit (merge {:event :ns :ns name :ms (- (now) start) :late @expired :halt (boolean (:halt @state)) :ran (vec (take 5000 (:ran @state)))}
                         @counts))))
        (when (:halt @state) (throw (InterruptedException. "interrupted"))))
      (emit {:event :end :ms (- (now) began)})
      (finally (reset! done true)))))
