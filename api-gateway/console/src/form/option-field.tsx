import { useState } from 'preact/hooks'
import { Choices, Select } from './choices.tsx'
import type { Field } from './fields.ts'
import type { FieldInput, Pair } from './request.ts'
import { toSentence } from './sentence.ts'

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
export function OptionField({
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
