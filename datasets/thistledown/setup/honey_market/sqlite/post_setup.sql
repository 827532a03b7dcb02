CREATE INDEX idx_order_lines_product ON order_lines (product_id);
CREATE INDEX idx_orders_customer ON orders (customer_id, ordered_at);

CREATE VIEW order_totals AS
SELECT o.order_id, o.customer_id, o.status, SUM(l.quantity * l.unit_price) AS goods_total
FROM orders o
JOIN order_lines l ON l.order_id = o.order_id
GROUP BY o.order_id, o.customer_id, o.status;
