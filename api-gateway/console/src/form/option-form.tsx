import { useEffect, useState } from 'preact/hooks'
import { type Field, isMoving, searchGroups } from './fields.ts'
import { OptionField } from './option-field.tsx'
import type { FieldInput, FormInputs } from './request.ts'

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
