package convert

func (s *scope) integers() {}
