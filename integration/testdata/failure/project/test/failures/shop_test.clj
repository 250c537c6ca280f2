(ns failures.shop-test
  (:require [clojure.test :refer [deftest is]]
            [failures.shop :as shop]))

(deftest greets
  (is (= "ANN" (shop/greet {:name "ann"}))))

(defn greet-nobody []
  (shop/greet nil))
