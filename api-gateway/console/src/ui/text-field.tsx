import type { InputHTMLAttributes } from 'preact'

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
