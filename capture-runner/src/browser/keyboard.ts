import type { DevTools } from './devtools.ts'

// Presses keys of a US keyboard. Their names are values of `code` and `key` in UI Events, their numbers Windows' virtual key codes.

/** What a key is to a page. */
interface KeyValue {
  key: string
  keyCode: number
  /** What it writes. */
  text?: string
}

/** A key of the keyboard. */
export interface Key extends KeyValue {
  code: string
  location?: Location
  /** The same with the Shift key; absent: without a difference. */
  shifted?: KeyValue
}

type Location = typeof LEFT | typeof RIGHT | typeof KEYPAD

const LEFT = 1
const RIGHT = 2
const KEYPAD = 3

/** The bits of a mask. */
const MODIFIERS: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 }

/** Keys that write nothing, and whose `key` is their `code`. */
const NAMED: Readonly<Record<string, number>> = {
  ...{ Backspace: 8, Tab: 9, Pause: 19, CapsLock: 20, Escape: 27, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38 },
  ...{
    ArrowRight: 39,
    ArrowDown: 40,
    PrintScreen: 44,
    Insert: 45,
    Delete: 46,
    ContextMenu: 93,
    NumLock: 144,
    ScrollLock: 145,
    AltGraph: 225,
  },
  ...{ AudioVolumeMute: 173, AudioVolumeDown: 174, AudioVolumeUp: 175, MediaTrackNext: 176, MediaTrackPrevious: 177, MediaPlayPause: 179 },
}

/** What the digits of the keypad do without Shift. */
const KEYPAD_DIGITS = ['Insert', 'End', 'ArrowDown', 'PageDown', 'ArrowLeft', 'Clear', 'ArrowRight', 'Home', 'ArrowUp', 'PageUp']
const CLEAR = 12

const characterOf = (character: string, keyCode: number): KeyValue => ({ key: character, keyCode, text: character })

/** @param characters without and with Shift */
function writing(code: string, keyCode: number, characters: string, location?: Location): Key {
  const [plain = '', shifted] = characters
  return {
    code,
    ...characterOf(plain, keyCode),
    ...(location ? { location } : {}),
    ...(shifted === undefined ? {} : { shifted: characterOf(shifted, keyCode) }),
  }
}

const sides = (key: string, left: number, right = left): Key[] => [
  { code: `${key}Left`, key, keyCode: left, location: LEFT },
  { code: `${key}Right`, key, keyCode: right, location: RIGHT },
]

const onKeypad = (code: string, key: string, character: string, keyCode: number): Key => ({
  ...{ code, key, keyCode: NAMED[key] ?? CLEAR, location: KEYPAD },
  shifted: characterOf(character, keyCode),
})

const KEYS: readonly Key[] = [
  ...Object.entries(NAMED).map(([key, keyCode]) => ({ code: key, key, keyCode })),
  ...Array.from({ length: 12 }, (_, index) => ({ code: `F${index + 1}`, key: `F${index + 1}`, keyCode: 112 + index })),
  { code: 'Enter', key: 'Enter', keyCode: 13, text: '\r' },
  ...[sides('Shift', 16), sides('Control', 17), sides('Alt', 18), sides('Meta', 91, 92)].flat(),
  ...Array.from('abcdefghijklmnopqrstuvwxyz', (letter, index) => {
    const capital = letter.toUpperCase()
    return writing(`Key${capital}`, 65 + index, letter + capital)
  }),
  ...Array.from(')!@#$%^&*(', (character, digit) => writing(`Digit${digit}`, 48 + digit, digit + character)),
  ...[writing('Space', 32, ' '), writing('Semicolon', 186, ';:'), writing('Equal', 187, '=+'), writing('Comma', 188, ',<')],
  ...[writing('Minus', 189, '-_'), writing('Period', 190, '.>'), writing('Slash', 191, '/?'), writing('Backquote', 192, '`~')],
  ...[writing('BracketLeft', 219, '[{'), writing('Backslash', 220, '\\|'), writing('BracketRight', 221, ']}'), writing('Quote', 222, `'"`)],
  ...KEYPAD_DIGITS.map((key, digit) => onKeypad(`Numpad${digit}`, key, `${digit}`, 96 + digit)),
  onKeypad('NumpadDecimal', 'Delete', '.', 110),
  ...[writing('NumpadMultiply', 106, '*', KEYPAD), writing('NumpadAdd', 107, '+', KEYPAD), writing('NumpadSubtract', 109, '-', KEYPAD)],
  writing('NumpadDivide', 111, '/', KEYPAD),
  { code: 'NumpadEnter', key: 'Enter', keyCode: 13, text: '\r', location: KEYPAD },
]

/** The keys of a combination such as `Control+A`; undefined if it has an unknown one. */
export function findKeys(combination: string): Key[] | undefined {
  // A plus that does not follow a name is a key.
  const keys = combination.split(/(?<=[^+])\+/).map((name) => findKey(name === 'ControlOrMeta' ? 'Control' : name))
  return keys.every((key) => key !== undefined) ? keys : undefined
}

function findKey(name: string): Key | undefined {
  const byCode = KEYS.find(({ code }) => code === name)
  if (byCode) return byCode
  const byKey = KEYS.find(({ key, shifted, location }) => location !== KEYPAD && (key === name || shifted?.key === name))
  if (!byKey) return undefined
  // With Shift, it stays the key that was named.
  const { shifted, ...plain } = byKey
  return plain.key === name ? plain : { ...plain, ...shifted }
}

/** Presses the keys one after the other, and releases them in the opposite order. */
export async function pressKeys(session: DevTools, keys: readonly Key[]): Promise<void> {
  const pressed = new Set<string>()
  for (const key of keys) {
    const { text = '', ...value } = withModifiers(key, pressed)
    if (value.key in MODIFIERS) pressed.add(value.key)
    await session.send('Input.dispatchKeyEvent', {
      ...{ type: text === '' ? 'rawKeyDown' : 'keyDown', text, unmodifiedText: text },
      ...toEvent(value, pressed),
    })
  }
  for (const key of keys.toReversed()) {
    const value = withModifiers(key, pressed)
    pressed.delete(value.key)
    await session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...toEvent(value, pressed) })
  }
}

/** With a modifier other than Shift, a key writes nothing. */
function withModifiers(key: Key, pressed: ReadonlySet<string>): Key {
  const isShifted = pressed.has('Shift')
  const value = isShifted ? { ...key, ...key.shifted } : key
  return pressed.size > (isShifted ? 1 : 0) ? { ...value, text: '' } : value
}

const toEvent = ({ code, key, keyCode, location }: Key, pressed: ReadonlySet<string>) => ({
  ...{ code, key, windowsVirtualKeyCode: keyCode, location: location ?? 0, isKeypad: location === KEYPAD },
  modifiers: [...pressed].reduce((mask, modifier) => mask | (MODIFIERS[modifier] ?? 0), 0),
})
