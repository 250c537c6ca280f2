package claudecode

import (
	"encoding/json"
	"reflect"
)

// ReadFields reads the members of a JSON object into the fields of a struct
// that have their names as json tags. Case counts, as it does for the client:
// encoding/json by itself takes "Command" for "command". Other members are
// left alone; of two with one name the last counts.
func ReadFields(data []byte, into any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	fields := reflect.ValueOf(into).Elem()
	for i := range fields.NumField() {
		value, ok := members[fields.Type().Field(i).Tag.Get("json")]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, fields.Field(i).Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}
