;; brepl reload: how the namespaces of a file are before it is loaded. Puts a function for the steps after the load into the metadata of the
;; namespace brepl.reload, and prints the names of the file's vars. Evaluated in clojure.core.
(fn [{:keys [path hash]
      files :files   ; what :file says of vars of this file
      forms :forms   ; hashes of the text of its defonce and defmulti forms, by name
      was :was       ; the same of an earlier text of the file
      names :spaces
      whole :whole}] ; those whose ns form is in the file
(let [spaces (into [] (keep find-ns) names)
      whole (into [] (keep find-ns) whole)
      memory (create-ns 'brepl.reload)
      known (merge was (get-in (meta memory) [:files path :forms]))
      say (fn [x] (binding [*print-length* nil *print-level* nil *print-meta* false *print-readably* true]
                    (print (str "\n#brepl/reload " (pr-str x) "\n"))
                    (flush)))
      root (fn [^clojure.lang.Var v] (when (.hasRoot v) (.getRawRoot v)))
      multi? (fn [x] (instance? clojure.lang.MultiFn x))
      own (fn [n s] (get (ns-interns n) s))
      ours? (fn [v] (let [m (meta v), p (:protocol m)] ; a protocol's functions have no :file
                      (or (contains? files (:file m))
                          (and (instance? clojure.lang.Var p) (contains? files (:file (meta p)))))))
      vars (vec (for [n spaces, [s v] (ns-interns n) :when (ours? v)] {:ns n :sym s :var v :meta (meta v) :root (root v)}))
      by-hand (vec (for [n whole, [s v] (ns-interns n) :when (and (contains? #{nil "NO_SOURCE_PATH" "NO_SOURCE_FILE"} (:file (meta v))) (not (ours? v)))]
                     [n s v]))
      by-hand? (into #{} (map peek) by-hand)
      ;; All that is compiled in one load of a file has the same loader above its own.
      loader (fn [f] (when (fn? f)
                       (let [l (.getClassLoader ^Class (class f))]
                         (when (instance? clojure.lang.DynamicClassLoader l) (.getParent ^ClassLoader l)))))
      loaders (into #{} (keep (comp loader :root)) vars)
      made-here? (fn [f] (when-let [l (loader f)]
                           (if (seq loaders)
                             (contains? loaders l)
                             (some (fn [n] (.startsWith (.getName ^Class (class f)) (str (munge (str (ns-name n))) "$"))) whole))))
      everything (vec (for [n (all-ns), [_ v] (ns-interns n)] v))
      method-table (vec (for [v everything, :let [m (root v)] :when (multi? m), [d f] (methods m) :when (made-here? f)] [v d f]))
      impls (vec (for [v everything, :let [p (root v)] :when (and (instance? clojure.lang.APersistentMap p) (:on-interface p))
                       [c fs] (:impls p) :when (some made-here? (vals fs))]
                   [v c fs]))
      anew (vec (for [{:keys [sym var root]} vars :when (and (multi? root) (forms sym) (not= (forms sym) (known sym)))] [var root]))
      defaults (let [n (create-ns (gensym "brepl.reload"))] (remove-ns (ns-name n)) (ns-imports n))
      bare (remove (comp #{'user} ns-name) whole)
      aliases (vec (for [n bare, [a target] (ns-aliases n)] [n a target]))
      refers (vec (for [n bare, [s ^clojure.lang.Var v] (ns-map n)
                        :when (and (var? v) (not= n (.ns v)) (not= "clojure.core" (str (ns-name (.ns v)))))]
                    [n s v]))
      imports (vec (for [n bare, [s c] (ns-imports n) :when (not (contains? defaults s))] [n s c]))
      metas (vec (for [n bare] [n (meta n)])) ; fixtures of clojure.test are in it
      hidden (atom [])
      back (fn [^clojure.lang.Namespace n s v] (ns-unmap n s) (.refer n s v))
      methods-of-others (fn [] (doseq [[v old] anew :let [m (root v)] :when (multi? m)]
                                 (doseq [[d f] (methods old) :when (not (or (made-here? f) (contains? (methods m) d)))]
                                   (.addMethod ^clojure.lang.MultiFn m d f))
                                 (doseq [[a bs] (prefers old), b bs]
                                   (try (prefer-method m a b) (catch IllegalStateException _ nil)))))
      remembers (fn [hash]
                  (alter-meta! memory (fn [m]
                                        (let [clock (inc (:clock m 0))
                                              before (get-in m [:files path])]
                                          (-> m (update :open dissoc path)
                                              (assoc :clock clock)
                                              (assoc-in [:files path] {:hash hash :forms forms :spaces (set names) :loaded clock
                                                                       :changed (if (and before (= hash (:hash before))) (:changed before) clock)}))))))
      steps {:hide (fn [names]
                     (doseq [[n s] names :let [n (find-ns n), v (and n (own n s))] :when v]
                       (swap! hidden conj [n s v])
                       (ns-unmap n s)))
             ;; After the load. A hidden name that came back is another var than the one that others use: the file is to be loaded again.
             :again? (fn [_]
                       (let [came (vec (for [[n s v] @hidden :when (own n s)] [n s v]))]
                         (swap! hidden (fn [all] (vec (remove (set came) all))))
                         (doseq [[n s v] came] (back n s v))
                         (say {:again (boolean (seq came))})))
             :sweep (fn [keep?]
                      (methods-of-others)
                      (doseq [[v d f] method-table :let [m (root v)] :when (and (multi? m) (identical? f (get (methods m) d)))]
                        (remove-method m d))
                      (doseq [[v c fs] impls :when (identical? fs (get-in (root v) [:impls c]))]
                        (alter-var-root v update :impls dissoc c)
                        (-reset-methods (root v)))
                      ;; Only its declare is left of it.
                      (doseq [{:keys [^clojure.lang.Var var root]} vars
                              :when (and (some? root) (:declared (meta var)) (.hasRoot var) (identical? root (.getRawRoot var)))]
                        (.unbindRoot var))
                      (doseq [[n s v] @hidden :when (and (by-hand? v) (not (contains? (ns-map n) s)))] (back n s v))
                      (let [left (vec (for [{n :ns s :sym v :var m :meta} vars
                                            :when (and (identical? v (own n s)) (identical? m (meta v)) (not (keep? s)))]
                                        (do (ns-unmap n s) [n s])))
                            gone (concat left (for [[n s v] @hidden :when (not (by-hand? v))] [n s]))]
                        (remembers hash)
                        (say {:gone (vec (for [[n s] gone] [(str (ns-name n)) (str s)]))
                              :kept (vec (for [{:keys [sym root]} vars
                                               :when (and (keep? sym) (some? root) (not (multi? root)) (known sym) (not= (known sym) (forms sym)))]
                                           (str sym)))})))
             ;; After a load that failed: what was taken away comes back, unless the load has put something else there.
             :undo (fn [_]
                     (doseq [[n s ^clojure.lang.Var v] @hidden]
                       (when-let [^clojure.lang.Var now (own n s)]
                         (when (.hasRoot now) (.bindRoot v (.getRawRoot now)))
                         (.setMeta v (meta now)))
                       (when (or (own n s) (not (contains? (ns-map n) s)))
                         (back n s v)))
                     (doseq [[^clojure.lang.Namespace n a target] aliases :when (not (contains? (ns-aliases n) a))] (.addAlias n a target))
                     (doseq [[^clojure.lang.Namespace n s v] refers :when (not (contains? (ns-map n) s))] (.refer n s v))
                     (doseq [[^clojure.lang.Namespace n s c] imports :when (not (contains? (ns-map n) s))] (.importClass n s c))
                     (doseq [[n m] metas] (alter-meta! n (fn [now] (merge m now))))
                     (doseq [[^clojure.lang.Var v old] anew :when (not (multi? (root v)))] (.bindRoot v old))
                     (methods-of-others)
                     (remembers ""))}]
  (alter-meta! memory assoc-in [:open path] (fn [step x] ((steps step) x) nil))
  (doseq [[n _] metas] (reset-meta! n nil))
  (doseq [[n a _] aliases] (ns-unalias n a))
  (doseq [[n s _] (concat refers imports)] (ns-unmap n s))
  (doseq [[^clojure.lang.Var v _] anew] (.unbindRoot v))
  (say {:vars (vec (concat (for [{n :ns s :sym} vars] [(str (ns-name n)) (str s) (contains? (ns-publics 'clojure.core) s)])
                           (for [[n s] by-hand] [(str (ns-name n)) (str s) false])))})
  nil))
