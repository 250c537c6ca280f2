;; Ordinary Clojure. Repair counts the habits of writing in it, and adds those of the text that it repairs.
(ns shop.orders
  "Orders and what becomes of them."
  (:require [clojure.set :as set]
            [clojure.string :as str]
            [shop.db :as db :refer [query insert!]])
  (:import (java.time Instant LocalDate)
           [java.util UUID Date]))

(set! *warn-on-reflection* true)

(def ^:private limit 100)

(def states #{:new :paid :sent :done})

(def ^{:doc "What a state leads to." :private true} transitions
  {:new  #{:paid :cancelled}
   :paid #{:sent}
   :sent #{:done}})

(defonce registry (atom {}))

(declare total send!)

(defrecord Order [id customer items state])

(defprotocol Store
  "A place for orders."
  (fetch [this id] "The order with this id, or nil.")
  (save! [this order]
    "Keeps the order."))

(defrecord MemoryStore [state]
  Store
  (fetch [_ id] (get @state id))
  (save! [this order]
    (swap! state assoc (:id order) order)
    this))

(deftype Pool [^long size queue]
  java.io.Closeable
  (close [this] (.close queue))
  Object
  (toString [_] (str "pool of " size)))

(defn order
  "Makes an order."
  ([customer] (order customer []))
  ([customer items]
   (order (UUID/randomUUID) customer items))
  ([id customer items]
   {:id id
    :customer customer
    :items (vec items)
    :state :new
    :at (Instant/now)}))

(defn- price [{:keys [price quantity] :or {quantity 1}}]
  (* price quantity))

(defn total [{:keys [items discount] :as order}]
  (let [sum (reduce + 0 (map price items))
        factor (- 1 (or discount 0))]
    (if (pos? sum)
      (* sum factor)
      0)))

(defn allowed? [from to] (contains? (get transitions from) to))

(defn advance!
  [store id state]
  {:pre [(some? id) (keyword? state)]}
  (when-let [order (fetch store id)]
    (when-not (allowed? (:state order) state)
      (throw (ex-info "Not allowed" {:id id :from (:state order) :to state})))
    (save! store (assoc order :state state))))

(defn summary [orders]
  (->> orders
       (filter #(= :paid (:state %)))
       (map (juxt :id total))
       (sort-by second >)
       (take limit)
       (into {})))

(defn label [order]
  (cond
    (nil? order) "none"
    (= :new (:state order)) (str "new: " (:id order))
    (< (total order) 10)
    (str "small: " (:id order) ", " (total order))
    :else
    (let [{:keys [id state]} order]
      (str/join " " [id (name state)]))))

(defn state-name [state]
  (case state
    :new "New"
    :paid "Paid"
    (:sent :done) (str/capitalize (name state))
    "Unknown"))

(defmulti handle "Handles a message." (fn [message & _] (:type message)))

(defmethod handle :default [message] (println "unknown" (:type message)))

(defmethod handle :paid
  [{:keys [id]} store]
  (advance! store id :paid)
  (println "paid" id))

(defmacro with-order
  "Runs the body with an order."
  [[name id] & body]
  `(let [~name (fetch @registry ~id)]
     (when ~name
       ~@body)))

(defmacro unless [test & body]
  (let [result (gensym "result")]
    `(let [~result ~test]
       (if-not ~result (do ~@body) nil))))

(defn read-orders [file]
  (with-open [reader (clojure.java.io/reader file)]
    (doseq [line (line-seq reader)
            :let [fields (str/split line #",")]
            :when (= 3 (count fields))]
      (let [[id customer amount] fields
            amount (try
                     (Long/parseLong (str/trim amount))
                     (catch NumberFormatException e
                       (println "bad amount:" (.getMessage e))
                       0))]
        (swap! registry assoc id {:customer customer :amount amount})))))

(defn index-by [f coll]
  (persistent!
   (reduce (fn [acc x] (assoc! acc (f x) x))
           (transient {})
           coll)))

(defn walk-orders [orders]
  (loop [todo orders
         done []
         n 0]
    (if-let [[o & more] (seq todo)]
      (recur more
             (if (= :done (:state o)) (conj done o) done)
             (inc n))
      {:done done :count n})))

(defn listen [port handler]
  (let [running (atom true)
        server (future
                 (while @running
                   (try
                     (handler (take! port))
                     (catch Exception e
                       (println e)))))]
    (fn []
      (reset! running false)
      (deref server 1000 nil))))

(defn largest [orders]
  (when (seq orders)
    (apply max-key total orders)))

(defn by-customer [orders]
  (for [[customer group] (group-by :customer orders)
        :let [sum (apply + (map total group))]
        :when (> sum 0)]
    {:customer customer
     :orders (mapv :id group)
     :sum sum}))

(defn parts [s]
  (letfn [(word? [c] (not= c \space))
          (step [acc c]
            (if (word? c)
              (update acc (dec (count acc)) str c)
              (conj acc "")))]
    (reduce step [""] s)))

(defn invoke [^Object target ^String method & args]
  (let [c (.getClass target)
        m (first (filter #(= method (.getName ^java.lang.reflect.Method %)) (.getMethods c)))]
    (.invoke m target (into-array Object args))))

(deftest totals
  (testing "an order without items"
    (is (= 0 (total (order "ann")))))
  (testing "several items"
    (is (= 30 (total {:items [{:price 10} {:price 5 :quantity 4}]})))
    (is (thrown? Exception (total nil))))
  (are [a b] (= a b)
    1 1
    (inc 1) 2))

(def routes
  [["/orders" {:get list-orders
               :post {:handler create-order
                      :parameters {:body [:map [:customer string?]]}}}]
   ["/orders/:id" {:get {:handler show-order}
                   :delete delete-order}]])

(comment
  (advance! @registry 1 :paid)
  (summary (vals @registry)))
