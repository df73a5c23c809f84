import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes } from 'preact'

interface SelectProps extends Pick<SelectHTMLAttributes, 'id' | 'aria-label' | 'aria-describedby' | 'aria-invalid'> {
  value: string
  /** Values, with their titles if they differ. */
  options: readonly (string | readonly [value: string, title: string])[]
  onChoose: (value: string) => void
}

/** One of several values. */
export const Select = ({ options, onChoose, ...more }: SelectProps) => (
  <select {...more} onChange={(event) => onChoose(event.currentTarget.value)}>
    {options.map((option) => {
      const [value, title] = typeof option === 'string' ? [option, option] : option
      return (
        <option key={value} value={value}>
          {title}
        </option>
      )
    })}
  </select>
)

interface CheckboxProps {
  isChecked: boolean
  isDisabled?: boolean
  class?: string
  onCheck: (isChecked: boolean) => void
  /** The label. */
  children: ComponentChildren
}

export const Checkbox = ({ isChecked, isDisabled = false, class: name, onCheck, children }: CheckboxProps) => (
  <label class={name}>
    <input type="checkbox" checked={isChecked} disabled={isDisabled} onChange={(event) => onCheck(event.currentTarget.checked)} />{' '}
    {children}
  </label>
)

interface ChoicesProps {
  legend?: string
  labels?: { 'aria-labelledby': string; 'aria-describedby': string }
  values: readonly string[]
  chosen: readonly string[]
  isDisabled?: boolean
  onChoose: (chosen: string[]) => void
  /** A choice before the others. */
  children?: ComponentChildren
}

/** Any of several values. */
export const Choices = ({ legend, labels, values, chosen, isDisabled = false, onChoose, children }: ChoicesProps) => (
  <fieldset class="choices" {...labels}>
    {legend === undefined ? null : <legend>{legend}</legend>}
    {children}
    {values.map((value) => (
      <Checkbox
        key={value}
        isChecked={chosen.includes(value)}
        isDisabled={isDisabled}
        onCheck={(isChecked) => onChoose(values.filter((one) => (one === value ? isChecked : chosen.includes(one))))}
      >
        {value}
      </Checkbox>
    ))}
  </fieldset>
)

interface TextFieldProps extends Pick<InputHTMLAttributes, 'required' | 'maxLength' | 'placeholder' | 'min' | 'max' | 'pattern'> {
  id: string
  label: string
  type?: 'text' | 'url' | 'number'
  value: string
  /** What is wrong with a text that `pattern` does not match. */
  problem?: string
  onText: (text: string) => void
}

/** An input with its label. One for a number is narrow. */
export const TextField = ({ id, label, type = 'text', problem = '', onText, ...more }: TextFieldProps) => (
  <div class={type === 'number' ? '' : 'grow'}>
    <label for={id}>{label}</label>
    <input
      id={id}
      type={type as 'text'}
      onInput={({ currentTarget: input }) => {
        input.setCustomValidity(input.validity.patternMismatch ? problem : '')
        onText(input.value)
      }}
      {...more}
    />
  </div>
)
