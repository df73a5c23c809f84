import { useEffect, useState } from 'preact/hooks'
import { type Field, type FieldInput, type FindProblems, type FormInputs, isMoving, type Pair, searchGroups, toSentence } from './fields.ts'
import { Choices, Select } from './inputs.tsx'

interface OptionFormProps {
  inputs: FormInputs
  problems: ReadonlyMap<string, string>
  /** Absent: all options are offered. */
  isOffered?: (field: Field) => boolean
  onChange: (inputs: FormInputs) => void
}

const OPEN_AT_START = ['Viewport', 'Format', 'Full pages']

/** Every option of the catalog, in groups, with a search. */
export function OptionForm({ inputs, problems, isOffered = () => true, onChange }: OptionFormProps) {
  const [search, setSearch] = useState('')
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set(OPEN_AT_START))
  const isOfVideo = isMoving(String(inputs.format))
  useEffect(() => {
    if (isOfVideo) setOpened((before) => new Set([...before, 'Video']))
  }, [isOfVideo])
  const groups = searchGroups(search)
    .map((group) => ({ ...group, fields: group.fields.filter(isOffered) }))
    .filter(({ fields }) => fields.length > 0)
  const change = (name: string, input: FieldInput | undefined) => {
    const { [name]: _, ...others } = inputs
    onChange(input === undefined ? others : { ...others, [name]: input })
  }
  const count = Object.keys(inputs).length
  return (
    <section class="panel options" aria-labelledby="options-title">
      <div class="panel-head">
        <h2 id="options-title">Options</h2>
        {count > 0 ? (
          <button type="button" class="plain" onClick={() => onChange({})}>
            {count === 1 ? 'Reset one option' : `Reset ${count} options`}
          </button>
        ) : null}
      </div>
      <input
        type="search"
        class="search"
        aria-label="Search options"
        placeholder="Search, such as dark mode or pdf"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <div class="groups">
        {groups.map(({ title, note, fields }) => {
          const set = fields.filter(({ name }) => inputs[name] !== undefined).length
          const wrong = fields.filter(({ name }) => problems.has(name)).length
          const isOpen = search !== '' || opened.has(title)
          const toggle = (isNowOpen: boolean) => {
            if (search !== '' || isNowOpen === opened.has(title)) return
            const next = new Set(opened)
            if (isNowOpen) next.add(title)
            else next.delete(title)
            setOpened(next)
          }
          return (
            <details key={title} open={isOpen} onToggle={(event) => toggle(event.currentTarget.open)}>
              <summary>
                {title}
                {wrong > 0 ? <span class="count wrong">{wrong} to fix</span> : null}
                {set > 0 ? <span class="count">{set} set</span> : null}
              </summary>
              {isOpen ? (
                <div class="fields">
                  {note ? <p class="help">{note}</p> : null}
                  {fields.map((field) => (
                    <OptionField
                      key={field.name}
                      field={field}
                      input={inputs[field.name]}
                      problem={problems.get(field.name)}
                      onChange={(input) => change(field.name, input)}
                    />
                  ))}
                </div>
              ) : null}
            </details>
          )
        })}
        {groups.length === 0 ? <p class="empty">No option matches.</p> : null}
      </div>
    </section>
  )
}

/** Names the options that keep a button disabled. Their groups can be closed. */
export const OptionsToCorrect = ({ names }: { names: readonly string[] }) =>
  names.length === 0 ? null : <p class="problem">{`To correct in the options: ${names.join(', ')}`}</p>

interface ControlProps {
  field: Field
  input: FieldInput | undefined
  /** Undefined sets the default. */
  onChange: (input: FieldInput | undefined) => void
  id: string
  describedBy: string
  isInvalid: boolean
}

/** One option: its control, description and problem. */
function OptionField({
  field,
  input,
  problem,
  onChange,
}: {
  field: Field
  input: FieldInput | undefined
  problem: string | undefined
  onChange: (input: FieldInput | undefined) => void
}) {
  const id = `option-${field.name}`
  const describedBy = `${id}-help${problem ? ` ${id}-problem` : ''}`
  const isGroup = field.kind === 'choices' || field.kind === 'pairs'
  const control = <Control field={field} input={input} onChange={onChange} id={id} describedBy={describedBy} isInvalid={Boolean(problem)} />
  return (
    <div class={`field${input === undefined ? '' : ' set'}${problem ? ' invalid' : ''}`}>
      <div class="field-head">
        {isGroup ? (
          <span id={id} class="name">
            {field.name}
          </span>
        ) : (
          <label for={id} class="name">
            {field.name}
          </label>
        )}
        {input === undefined ? null : (
          <button type="button" class="plain small" onClick={() => onChange(undefined)} aria-label={`Reset ${field.name}`}>
            Reset
          </button>
        )}
      </div>
      {control}
      <p id={`${id}-help`} class="help">
        {field.description}
      </p>
      {problem ? (
        <p id={`${id}-problem`} class="problem">
          {toSentence(problem)}
        </p>
      ) : null}
    </div>
  )
}

const orDefault = (text: string): string | undefined => (text === '' ? undefined : text)

function Control(props: ControlProps) {
  const { field, input, onChange, id, describedBy, isInvalid } = props
  const text = typeof input === 'string' ? input : ''
  const common = { id, 'aria-describedby': describedBy, 'aria-invalid': isInvalid }
  if (field.kind === 'boolean' || field.kind === 'choice') {
    const values = field.kind === 'boolean' ? ['true', 'false'] : field.choices
    const options = [['', `Default: ${field.fallback}`] as const, ...values]
    return <Select {...common} value={text} options={options} onChoose={(value) => onChange(orDefault(value))} />
  }
  if (field.kind === 'choices') {
    const chosen = Array.isArray(input) ? (input as readonly string[]) : []
    const choose = (values: readonly string[]) => onChange(values.length === 0 ? undefined : values)
    const labels = { 'aria-labelledby': id, 'aria-describedby': describedBy }
    return <Choices labels={labels} values={field.choices} chosen={chosen} onChoose={choose} />
  }
  if (field.kind === 'pairs') return <Pairs {...props} />
  const change = (event: { currentTarget: { value: string } }) => onChange(orDefault(event.currentTarget.value))
  if (field.kind === 'long' || field.kind === 'lines') {
    const placeholder = field.kind === 'lines' ? 'One per line' : ''
    return (
      <textarea
        {...common}
        rows={field.kind === 'lines' ? 2 : 3}
        spellcheck={false}
        placeholder={placeholder}
        value={text}
        onInput={change}
      />
    )
  }
  const more = { ...common, autocomplete: 'off', spellcheck: false, placeholder: field.fallback, value: text, onInput: change } as const
  if (field.isSecret) return <input {...more} type="password" />
  return <input {...more} type="text" inputMode={field.kind === 'number' ? 'decimal' : 'text'} />
}

function Pairs({ field, input, onChange, id, describedBy }: ControlProps) {
  const given = Array.isArray(input) ? (input as readonly Pair[]) : []
  const [count, setCount] = useState(1)
  const rows = Array.from({ length: Math.max(count, given.length) }, (_, index): Pair => given[index] ?? ['', ''])
  const change = (index: number, pair: Pair) => {
    const next = rows.map((row, other) => (other === index ? pair : row))
    setCount(next.length)
    onChange(next.some(([name, value]) => name !== '' || value !== '') ? next : undefined)
  }
  return (
    <fieldset aria-labelledby={id} aria-describedby={describedBy} class="pairs">
      {rows.map(([name, value], index) => (
        <div key={index} class="pair">
          <input
            type="text"
            aria-label={`${field.name}: name ${index + 1}`}
            placeholder="Name"
            spellcheck={false}
            value={name}
            onInput={(event) => change(index, [event.currentTarget.value, value])}
          />
          <input
            type="text"
            aria-label={`${field.name}: value ${index + 1}`}
            placeholder="Value"
            spellcheck={false}
            value={value}
            onInput={(event) => change(index, [name, event.currentTarget.value])}
          />
        </div>
      ))}
      <button type="button" class="plain small" onClick={() => setCount(rows.length + 1)}>
        Add a row
      </button>
    </fieldset>
  )
}

let loaded: FindProblems | undefined

/** The checks of the form, which load when they are wanted first. Undefined until then. The API checks requests in any case. */
export function useChecks(isWanted: boolean): FindProblems | undefined {
  const [, setReady] = useState(loaded !== undefined)
  useEffect(() => {
    if (!isWanted || loaded) return
    import('./checks.ts').then(
      ({ findProblems }) => {
        loaded = findProblems
        setReady(true)
      },
      () => {},
    )
  }, [isWanted])
  return loaded
}
