;; Compares texts as Clojure's own reader reads them. Input: for each pair of texts, twice a length (four bytes, the high one first) and
;; so many bytes of UTF-8. Output: a line for each pair, with "same", "different" or, where Clojure cannot read one, "unreadable left"
;; or "unreadable right". Nothing is evaluated.
(import '(java.io DataInputStream EOFException PushbackReader StringReader)
        '(clojure.lang LispReader$Resolver ReaderConditional TaggedLiteral)
        'java.util.regex.Pattern)

;; No namespace of the texts is loaded: an alias stands for itself.
(def resolver
  (reify LispReader$Resolver
    (currentNS [_] 'user)
    (resolveClass [_ _] nil)
    (resolveAlias [_ alias] alias)
    (resolveVar [_ _] nil)))

(defn plain-symbol
  "Without the numbers that the reader gives to x# and to the arguments of #()."
  [sym]
  (symbol (namespace sym) (.replaceAll (name sym) "__[0-9]+" "__")))

(defn plain
  "Data that = compares as the text has it: a vector is no list, a regex is its text, and metadata count."
  [form]
  (let [data (cond
               (symbol? form) (plain-symbol form)
               (instance? Pattern form) [:regex (str form)]
               (instance? ReaderConditional form) [:conditional (:splicing? form) (plain (:form form))]
               (instance? TaggedLiteral form) [:tagged (:tag form) (plain (:form form))]
               (map? form) [:map (into {} (map (fn [[k v]] [(plain k) (plain v)])) form)]
               (set? form) [:set (into #{} (map plain) form)]
               (vector? form) [:vector (mapv plain form)]
               (seq? form) [:list (mapv plain form)]
               (and (double? form) (Double/isNaN form)) [:nan]
               :else form)]
    (if (seq (meta form)) [:meta (plain (meta form)) data] data)))

(defn read-text [text]
  (try
    (binding [*read-eval* false
              *default-data-reader-fn* tagged-literal
              *reader-resolver* resolver]
      (let [in (PushbackReader. (StringReader. text))
            options {:eof ::end :read-cond :preserve}]
        (mapv plain (take-while (complement #{::end}) (repeatedly #(read options in))))))
    (catch Exception _ ::unreadable)))

(let [in (DataInputStream. (java.io.BufferedInputStream. System/in))
      next-text #(let [bytes (byte-array (.readInt in))]
                   (.readFully in bytes)
                   (String. bytes "UTF-8"))]
  (try
    (while true
      (let [left (read-text (next-text))
            right (read-text (next-text))]
        (println (cond
                   (= ::unreadable left) "unreadable left"
                   (= ::unreadable right) "unreadable right"
                   (= left right) "same"
                   :else "different"))))
    (catch EOFException _)))
