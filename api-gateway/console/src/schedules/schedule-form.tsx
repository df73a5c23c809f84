import { toMergePatch } from '@tintype/crds/schema/merge-patch'
import { useMemo, useState } from 'preact/hooks'
import { api, RequestError, type Schemas } from '../api/client.ts'
import { fieldsByName, toSentence } from '../form/fields.ts'
import { Checkbox, Select } from '../form/inputs.tsx'
import { OptionForm, OptionsToCorrect, useChecks } from '../form/option-form.tsx'
import { navigate } from '../routing/router.ts'
import { ErrorNote, Missing, Note, Warnings } from '../ui/notes.tsx'
import { Crumb, Panel } from '../ui/panel.tsx'
import { useData } from '../ui/use-data.ts'
import { isOptionOfRuns, NEW_SCHEDULE, type ScheduleInputs, type ScheduleRequest, toScheduleInputs, toScheduleRequest } from './body.ts'
import { NextTimesList } from './next-times.tsx'
import { readSchedule, schedulePath } from './runs.tsx'
import { COMMON_SCHEDULES } from './timing.ts'

interface ScheduleFormProps {
  start: ScheduleInputs
  /** Creation of the schedule, in epoch milliseconds. */
  anchor: number
  label: string
  /** Resolves when the request succeeded. */
  onSubmit: (request: ScheduleRequest) => Promise<void>
  onCancel: () => void
}

const CONCURRENCY = [
  ['forbid', 'Wait for its end'],
  ['allow', 'Run at the same time'],
] as const
const BASELINES = [
  ['', 'nothing'],
  ['previous', 'the run before'],
  ['approved', 'the run that was approved last'],
] as const

type TextName = Exclude<keyof ScheduleInputs, 'options' | 'hidden'>

/** Creates or changes a schedule. The next times and problems appear while you type. */
function ScheduleForm({ start, anchor, label, onSubmit, onCancel }: ScheduleFormProps) {
  const [inputs, setInputs] = useState(start)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  // What is only needed to fill in the form is made when it is used first.
  const [isUsed, setUsed] = useState(false)
  const zones = useMemo(() => (isUsed ? ['UTC', ...Intl.supportedValuesOf('timeZone')] : []), [isUsed])
  const findProblems = useChecks(isUsed)
  const request = toScheduleRequest(inputs, { now: Date.now(), anchor, findProblems })
  const reported = new Map(request.problems)
  // An empty form is not wrong yet.
  if (inputs.url === '' && start.url === '') reported.delete('url')
  if (error instanceof RequestError) for (const { path, message } of error.problems) reported.set(path, message)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (request.problems.size > 0 || isBusy) return
    setBusy(true)
    setError(undefined)
    await onSubmit(request).catch(setError)
    setBusy(false)
  }
  const set = (name: TextName, value: string) => setInputs({ ...inputs, [name]: value })
  const isCommon = COMMON_SCHEDULES.some(([schedule]) => schedule === inputs.schedule)
  const text = (name: TextName, title: string, more: Record<string, unknown> = {}) => (
    <Labeled name={name} title={title} problem={reported.get(name)}>
      <input
        id={`schedule-${name}`}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={inputs[name]}
        aria-invalid={reported.has(name)}
        aria-describedby={reported.has(name) ? `schedule-${name}-problem` : undefined}
        onInput={(event) => set(name, event.currentTarget.value)}
        {...more}
      />
    </Labeled>
  )
  return (
    <form onSubmit={submit} onFocusIn={() => setUsed(true)}>
      <ErrorNote error={error} />
      {start.hidden.length > 0 ? (
        <Note kind="info">
          Records do not show {start.hidden.join(', ')}. A change keeps them, unless you remove them together.{' '}
          <Checkbox isChecked={inputs.hidden.length === 0} onCheck={(is) => setInputs({ ...inputs, hidden: is ? [] : start.hidden })}>
            Remove them, or replace them by what I enter
          </Checkbox>
        </Note>
      ) : null}
      <Warnings texts={request.warnings} />
      <div class="columns">
        <Panel title="Page and times">
          <div class="stack">
            {text('url', 'Page', { inputMode: 'url', placeholder: 'https://example.com/' })}
            {text('name', 'Name', { placeholder: 'home page', maxLength: 100 })}
            <Labeled name="common" title="Common times">
              <Select
                id="schedule-common"
                value={inputs.schedule}
                options={isCommon ? COMMON_SCHEDULES : [[inputs.schedule, 'Other'], ...COMMON_SCHEDULES]}
                onChoose={(value) => set('schedule', value)}
              />
            </Labeled>
            {text('schedule', 'Cron expression', { class: 'mono', placeholder: '*/30 * * * *' })}
            {text('time_zone', 'Time zone', { list: 'time-zones' })}
            <datalist id="time-zones">
              {zones.map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
            <NextTimesList schedule={inputs.schedule} zone={inputs.time_zone} anchor={anchor} />
            <Labeled name="concurrency_policy" title="If the previous run has not ended">
              <Select
                id="schedule-concurrency_policy"
                value={inputs.concurrency_policy}
                options={CONCURRENCY}
                onChoose={(value) => set('concurrency_policy', value)}
              />
            </Labeled>
            {text('starting_deadline_seconds', 'Start missed runs within (seconds)', { inputMode: 'numeric', placeholder: 'no limit' })}
            {text('spread_seconds', 'Spread the start over (seconds)', { inputMode: 'numeric', placeholder: '0' })}
            <ComparisonFields inputs={inputs} problems={reported} text={text} set={set} />
            <OptionsToCorrect names={[...reported.keys()].filter((name) => fieldsByName.has(name))} />
            <div class="actions">
              <button type="submit" class="primary" disabled={isBusy || request.problems.size > 0}>
                {label}
              </button>
              <button type="button" onClick={onCancel}>
                Cancel
              </button>
            </div>
          </div>
        </Panel>
        <OptionForm
          inputs={inputs.options}
          problems={reported}
          isOffered={isOptionOfRuns}
          onChange={(options) => setInputs({ ...inputs, options })}
        />
      </div>
    </form>
  )
}

interface ComparisonFieldsProps {
  inputs: ScheduleInputs
  problems: ReadonlyMap<string, string>
  text: (name: TextName, title: string, more?: Record<string, unknown>) => preact.ComponentChildren
  set: (name: TextName, value: string) => void
}

function ComparisonFields({ inputs, problems, text, set }: ComparisonFieldsProps) {
  return (
    <>
      <Labeled name="baseline" title="Compare each run with">
        <Select id="schedule-baseline" value={inputs.baseline} options={BASELINES} onChoose={(value) => set('baseline', value)} />
      </Labeled>
      {inputs.baseline === '' ? null : (
        <>
          {text('threshold', 'Threshold (share of changed pixels)', { inputMode: 'decimal', placeholder: 'any changed region' })}
          {text('color_tolerance', 'Color tolerance', { inputMode: 'decimal', placeholder: '0.1' })}
          <Labeled name="ignore" title="Ignore selectors or regions" problem={problems.get('ignore')}>
            <textarea
              id="schedule-ignore"
              rows={2}
              spellcheck={false}
              placeholder="One per line"
              value={inputs.ignore}
              onInput={(event) => set('ignore', event.currentTarget.value)}
            />
          </Labeled>
          {text('accept_status', 'Error statuses to compare', { placeholder: '404, 500-511' })}
          {inputs.baseline === 'approved' ? (
            <Checkbox class="plain-label" isChecked={inputs.approve_first === 'true'} onCheck={(is) => set('approve_first', String(is))}>
              Approve the first run without asking
            </Checkbox>
          ) : null}
          <Checkbox class="plain-label" isChecked={inputs.antialiasing === 'true'} onCheck={(is) => set('antialiasing', String(is))}>
            Count antialiased edges
          </Checkbox>
        </>
      )}
    </>
  )
}

interface LabeledProps {
  name: string
  title: string
  problem?: string | undefined
  children: preact.ComponentChildren
}

function Labeled({ name, title, problem, children }: LabeledProps) {
  return (
    <div>
      <label for={`schedule-${name}`}>{title}</label>
      {children}
      {problem ? (
        <p id={`schedule-${name}-problem`} class="problem">
          {toSentence(problem)}
        </p>
      ) : null}
    </div>
  )
}

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
