;; brepl reload: what the server knows about the files of a project. Evaluated in clojure.core.
(fn [{:keys [spaces root remove forget note]}]
  (let [memory (create-ns 'brepl.reload)
        say (fn [x] (binding [*print-length* nil *print-level* nil *print-meta* false *print-readably* true]
                      (print (str "\n#brepl/reload " (pr-str x) "\n"))
                      (flush)))
        root-of (fn [^clojure.lang.Var v] (when (.hasRoot v) (.getRawRoot v)))
        multi? (fn [x] (instance? clojure.lang.MultiFn x))
        libs (loaded-libs)
        loaded? (fn [n] (when-let [s (find-ns n)] (or (contains? libs n) (seq (ns-interns s)))))
        file-of (fn [v] (let [m (meta v), p (:protocol m)] (or (:file m) (when (var? p) (:file (meta p))))))
        resource (fn [f] (.getResource (clojure.lang.RT/baseLoader) f))
        ;; Where a file is: its path, "" if it is gone, nil in a library.
        place (fn [^String f]
                (let [^java.net.URL url (when-not (.startsWith f "/") (resource f))
                      path (cond (.startsWith f "/") f, (nil? url) "", (= "file" (.getProtocol url)) (.getPath (java.io.File. (.toURI url))))]
                  (cond (nil? path) nil
                        (= "" path) (when-not (resource (str (second (re-matches #"(.*?)(\.cljc?)?" f)) "__init.class")) "")
                        (.startsWith ^String path ^String root) path)))
        written (fn [s] (disj (into #{} (keep file-of) (vals (ns-interns s))) "NO_SOURCE_PATH" "NO_SOURCE_FILE" "user.clj"))
        drop-namespace
        (fn [n]
          (let [prefix (str (munge (str n)) "$")
                its? (fn [f] (and (fn? f) (.startsWith (.getName ^Class (class f)) prefix)))]
            (doseq [s (all-ns), [_ v] (ns-interns s), :let [r (root-of v)]]
              (cond (multi? r) (doseq [[d f] (methods r) :when (its? f)] (remove-method r d))
                    (and (instance? clojure.lang.APersistentMap r) (:on-interface r) (:impls r))
                    (doseq [[c fs] (:impls r) :when (some its? (vals fs))]
                      (alter-var-root v update :impls dissoc c)
                      (-reset-methods (root-of v)))))
            (remove-ns n)
            (dosync (commute @#'*loaded-libs* disj n))))]
    (doseq [n remove] (drop-namespace n))
    (alter-meta! memory update :files
                 (fn [files] (into {} (for [[path m] files :let [left (reduce disj (:spaces m) remove)]
                                            :when (or (seq left) (empty? (:spaces m)))]
                                        [path (assoc m :spaces left)]))))
    (alter-meta! memory update :files
                 (fn [files] (reduce (fn [m path] (assoc-in m [path :hash] "")) files forget)))
    (when note
      (alter-meta! memory (fn [m] (-> m (update :files (fn [files] (reduce (fn [m [path hash n part]]
                                                                             (if (or (not (loaded? n)) (and (m path) (not part)))
                                                                               m
                                                                               (assoc m path {:hash hash :spaces #{n} :loaded (:clock note) :changed 0})))
                                                                           files (:files note))))
                                      (assoc-in [:looks root] {:at (System/currentTimeMillis) :clock (:clock m 0) :seen (set (filter loaded? (:seen note)))})))))
    (when spaces
      (let [disk (set spaces)
            known (:libs (meta memory) #{})
            all (vec (for [s (all-ns), :let [n (ns-name s)] :when (not (or (disk n) (known n) ('#{user clojure.core brepl.reload} n)))
                           :let [files (written s)] :when (seq files)]
                       [n (vec (for [f files] [f (place f)]))]))
            lib? (fn [[_ files]] (some (comp nil? second) files))]
        (alter-meta! memory assoc :libs (into known (map first (filter lib? all))))
        (let [m (meta memory)
              look (get-in m [:looks root])]
          (say {:start (.getStartTime (java.lang.management.ManagementFactory/getRuntimeMXBean))
                :clock (:clock m 0)
                :looked [(:at look 0) (:clock look 0)]
                :seen (vec (map str (:seen look)))
                :loaded (vec (for [n spaces :when (loaded? n)] (str n)))
                :held (vec (for [n spaces :let [s (find-ns n)] :when s
                                 :let [l (:clojure.tools.namespace.repl/load (meta s)), u (:clojure.tools.namespace.repl/unload (meta s))]
                                 :when (or (false? l) (false? u))]
                             [(str n) (false? l) (false? u)]))
                :files (vec (for [[path {:keys [hash loaded changed spaces]}] (:files m)]
                             [path hash (or loaded 0) (or changed 0) (vec (map str spaces))]))
                :others (vec (for [[n files] (clojure.core/remove lib? all)] [(str n) (vec (map second files))]))}))))
    nil))
