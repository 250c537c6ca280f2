(ns failures.shop
  (:require [clojure.string :as str]))

(defn total
  "Sum of the prices."
  [items]
  (reduce + (map :price items)))

(defn mean [items]
  (/ (total items)
     (count items)))

(defn greet [user]
  (str/upper-case (:name user)))

(defn check-age [n]
  (if (< n 18)
    (throw (ex-info "Too young" {:age n :limit 18}))
    n))

(defn register [user]
  (try
    (check-age (:age user))
    (catch Exception e
      (throw (ex-info "Cannot register" {:user user} e)))))

(defn positive [n]
  {:pre [(pos? n)]}
  n)

(defn endless [n] (inc (endless (inc n))))

(defn pick [k] (case k :a 1 :b 2))

(defn call-all [fs] (mapv #(%) fs))

(defprotocol Priced
  (price [this currency]))

(defmacro twice [form] `(do ~form ~form))

(defrecord Cart [items]
  Priced
  (price [_ currency]
    (/ (count items) (:rate currency))))

(defn- hidden [] 1)

(defn add
  ([x] x)
  ([x y] (+ x y)))
