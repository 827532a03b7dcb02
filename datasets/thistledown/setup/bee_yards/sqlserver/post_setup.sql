ALTER TABLE members ADD CONSTRAINT fk_members_mentor_id FOREIGN KEY (mentor_id) REFERENCES members (member_id);
ALTER TABLE yards ADD CONSTRAINT fk_yards_keeper_id FOREIGN KEY (keeper_id) REFERENCES members (member_id);
ALTER TABLE hives ADD CONSTRAINT fk_hives_yard_id FOREIGN KEY (yard_id) REFERENCES yards (yard_id);
ALTER TABLE hives ADD CONSTRAINT fk_hives_split_from_id FOREIGN KEY (split_from_id) REFERENCES hives (hive_id);
ALTER TABLE queens ADD CONSTRAINT fk_queens_hive_id FOREIGN KEY (hive_id) REFERENCES hives (hive_id);
ALTER TABLE queens ADD CONSTRAINT fk_queens_mother_id FOREIGN KEY (mother_id) REFERENCES queens (queen_id);
ALTER TABLE inspections ADD CONSTRAINT fk_inspections_hive_id FOREIGN KEY (hive_id) REFERENCES hives (hive_id);
ALTER TABLE inspections ADD CONSTRAINT fk_inspections_inspector_id FOREIGN KEY (inspector_id) REFERENCES members (member_id);
ALTER TABLE harvests ADD CONSTRAINT fk_harvests_hive_id FOREIGN KEY (hive_id) REFERENCES hives (hive_id);
ALTER TABLE scale_readings ADD CONSTRAINT fk_scale_readings_hive_id FOREIGN KEY (hive_id) REFERENCES hives (hive_id);
ALTER TABLE treatments ADD CONSTRAINT fk_treatments_hive_id FOREIGN KEY (hive_id) REFERENCES hives (hive_id);

CREATE INDEX idx_inspections_hive ON inspections (hive_id, inspected_at);
CREATE INDEX idx_harvests_hive ON harvests (hive_id);
CREATE INDEX idx_hives_yard ON hives (yard_id);

-- As text, since CREATE VIEW must be alone in its batch.
EXEC sp_executesql N'CREATE VIEW hives_in_service AS
SELECT h.hive_id, h.code, h.hive_type, h.installed_on, y.yard_id, y.yard_name
FROM hives h
LEFT JOIN yards y ON y.yard_id = h.yard_id
WHERE h.retired_on IS NULL';
