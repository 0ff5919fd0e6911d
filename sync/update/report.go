package update

import "docent/sync/wire"

// refuse reports something that changes nothing here.
func (u *Updater) refuse(d wire.Deploy, code string, why error) {
	d.Status, d.Code, d.Detail = wire.DeployRejected, code, clip(why.Error(), 512)
	u.report(d)
}

// end notes and reports how a deployment ended. It is reported also where it cannot be noted, on a full disk: then what
// can be done is done again after the next start.
func (u *Updater) end(st *State, status wire.DeployStatus, code string, why error) error {
	st.Status, st.Code, st.Detail = status, code, ""
	if why != nil {
		st.Detail = clip(why.Error(), 512)
	}
	if err := u.s.save(*st); err != nil {
		u.report(st.Deploy)
		return err
	}
	u.keep(*st)
	return nil
}

// set notes and reports a state.
func (u *Updater) set(st *State) error {
	if err := u.s.save(*st); err != nil {
		return err
	}
	u.keep(*st)
	return nil
}

func (u *Updater) keep(st State) {
	u.remember(st)
	u.report(st.Deploy)
}

func (u *Updater) remember(st State) {
	u.mu.Lock()
	u.state = st
	u.mu.Unlock()
}

func (u *Updater) report(d wire.Deploy) {
	if d.Status == "" {
		d.Status = wire.DeployAlreadyInstalled
	}
	if m, err := manifest(u.s.Shown()); err == nil {
		d.Shown = m.ID
		if d.Status == wire.DeployAlreadyInstalled {
			d.ReleaseID, d.Number = m.ID, m.Number
		}
	}
	d.TS = u.s.now().UTC()
	u.mu.Lock()
	u.said = d
	u.mu.Unlock()
	u.opt.Report(d)
}
