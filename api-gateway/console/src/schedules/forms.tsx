import { toMergePatch } from '@tintype/crds/schema/merge-patch'
import { api, type Schemas } from '../api/client.ts'
import { navigate } from '../routing/router.ts'
import { Missing } from '../ui/notes.tsx'
import { Crumb } from '../ui/panel.tsx'
import { useData } from '../ui/use-data.ts'
import { NEW_SCHEDULE, type ScheduleRequest, toScheduleInputs, toScheduleRequest } from './body.ts'
import { readSchedule, schedulePath } from './read-schedule.ts'
import { ScheduleForm } from './schedule-form.tsx'

// The forms have the catalog of options. They load when they are opened first.

export function NewSchedule({ url }: { url: string }) {
  const create = async ({ body }: ScheduleRequest) => {
    const { data } = await api<Schemas['ScheduleCreated']>('/schedules', { method: 'POST', body })
    navigate(`schedules/${data.data.id}`)
  }
  return (
    <>
      <Crumb path="schedules" title="Schedules" />
      <h2 class="title">New schedule</h2>
      <ScheduleForm
        start={{ ...NEW_SCHEDULE, url }}
        anchor={Date.now()}
        label="Create schedule"
        onSubmit={create}
        onCancel={() => navigate('schedules')}
      />
    </>
  )
}

export function EditSchedule({ id }: { id: string }) {
  const { value: schedule, error } = useData(`edit ${id}`, () => readSchedule(id))
  if (!schedule) return <Missing error={error} />
  const inputs = toScheduleInputs(schedule)
  const times = { now: Date.now(), anchor: Date.parse(schedule.created_at) }
  const change = async ({ body }: ScheduleRequest) => {
    const changes = toMergePatch(toScheduleRequest(inputs, times).body, body)
    if (Object.keys(changes).length > 0) await api(schedulePath(id), { method: 'PATCH', body: changes })
    navigate(`schedules/${id}`)
  }
  return (
    <>
      <Crumb path="schedules" title="Schedules" />
      <h2 class="title wrap">{schedule.name}</h2>
      <ScheduleForm start={inputs} anchor={times.anchor} label="Save" onSubmit={change} onCancel={() => navigate(`schedules/${id}`)} />
    </>
  )
}
