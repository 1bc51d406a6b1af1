package field

import "reflect"

// SetDefaults gives the fields of a struct, and of the sections in it, the defaults that their
// rules have on a cloud. A list that is there and empty stays empty. What follows from other
// fields has no default here.
func (s Set) SetDefaults(p Provider, section any) { s.setDefaults(p, reflect.ValueOf(section).Elem()) }

func (s Set) setDefaults(p Provider, section reflect.Value) {
	for i := range section.NumField() {
		value := section.Field(i)
		d, described := s[section.Type().Name()+"."+section.Type().Field(i).Name]
		byDefault := d.RuleOn(p).Default
		switch {
		case !described || d.Cloud != "" && d.Cloud != p:
		case value.Kind() == reflect.Struct:
			s.setDefaults(p, value)
		case byDefault != nil && value.IsZero():
			set(value, reflect.ValueOf(byDefault))
		}
	}
}

// set a field to a default. Of a list it has a copy. A list of mappings is written in another way
// than it is kept, and its own package sets it.
func set(value, byDefault reflect.Value) {
	if value.Kind() == reflect.Pointer {
		value.Set(reflect.New(value.Type().Elem()))
		value = value.Elem()
	}
	switch {
	case value.Kind() != reflect.Slice:
		value.Set(byDefault.Convert(value.Type()))
	case byDefault.CanConvert(value.Type()):
		value.Set(reflect.AppendSlice(reflect.MakeSlice(value.Type(), 0, byDefault.Len()), byDefault))
	}
}
