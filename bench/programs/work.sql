-- A table of 40,000 rows, an index, joins, aggregates and updates, in memory.
CREATE TABLE part(id INTEGER PRIMARY KEY, kind INTEGER, price REAL, name TEXT);
WITH RECURSIVE counter(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM counter WHERE k < 40000)
INSERT INTO part SELECT k, k * 7919 % 101, k * 31 % 997 / 10.0, 'part ' || (k * 104729 % 100003) FROM counter;
CREATE INDEX part_kind ON part(kind, price);
SELECT kind, count(*), sum(price), min(name) FROM part GROUP BY kind HAVING count(*) > 390 ORDER BY 3 DESC LIMIT 3;
SELECT count(*) FROM part a JOIN part b ON b.kind = a.kind AND b.price = a.price WHERE a.id < 4000 AND a.name < b.name;
UPDATE part SET price = price * 1.01 WHERE kind % 7 = 3;
SELECT substr(name, 1, 7) AS start, avg(price) FROM part GROUP BY start ORDER BY 2 DESC LIMIT 2;
DELETE FROM part WHERE id % 3 = 0;
SELECT count(*), round(sum(price)) FROM part WHERE name LIKE '%77%';
