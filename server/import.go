package server

func (a *service) imports(*table) {}
