import type { InputHTMLAttributes } from 'preact'

interface TextFieldProps extends Pick<InputHTMLAttributes, 'required' | 'maxLength' | 'placeholder' | 'min' | 'max' | 'pattern'> {
  id: string
  label: string
  type?: 'text' | 'url' | 'number'
  value: string
  onText: (text: string) => void
}

/** An input with its label. One for a number is narrow. */
export const TextField = ({ id, label, type = 'text', onText, ...more }: TextFieldProps) => (
  <div class={type === 'number' ? '' : 'grow'}>
    <label for={id}>{label}</label>
    <input id={id} type={type as 'text'} onInput={(event) => onText(event.currentTarget.value)} {...more} />
  </div>
)
