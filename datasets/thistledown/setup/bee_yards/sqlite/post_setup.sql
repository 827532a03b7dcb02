CREATE INDEX idx_inspections_hive ON inspections (hive_id, inspected_at);
CREATE INDEX idx_harvests_hive ON harvests (hive_id);
CREATE INDEX idx_hives_yard ON hives (yard_id);

CREATE VIEW hives_in_service AS
SELECT h.hive_id, h.code, h.hive_type, h.installed_on, y.yard_id, y.yard_name
FROM hives h
LEFT JOIN yards y ON y.yard_id = h.yard_id
WHERE h.retired_on IS NULL;
