(ns failures.dashed-name)
