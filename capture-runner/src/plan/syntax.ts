import { type EffectiveOptions, SELECTOR_OPTIONS } from '@tintype/crds/options/catalog'
import { toSnakeCase } from '@tintype/crds/text/words'

/** A text that the browser must be able to parse, and the API name of its option. */
export interface OptionText {
  option: string
  text: string
}

/** A selector. One that becomes a rule of a style sheet must also be complete there. */
export interface SelectorText extends OptionText {
  isRule: boolean
}

/** How a script runs: `console` allows top-level `await`, `classic` is a script of a page, `expression` has a value. */
export interface ScriptText extends OptionText {
  kind: 'console' | 'classic' | 'expression'
}

/** Texts to parse before the page opens. */
export interface SyntaxPlan {
  selectors: readonly SelectorText[]
  scripts: readonly ScriptText[]
  styles?: string
  maskColor?: string
  mediaFeatures: Readonly<Record<string, string>>
  /** Header and footer of a PDF. */
  templates: readonly OptionText[]
}

/** Collects options that contain CSS, JavaScript or HTML. Absent if there are none. */
export function buildSyntax(options: EffectiveOptions): { syntax?: SyntaxPlan } {
  const { mediaFeatures = {}, styles, maskSelectors = [], maskColor } = options
  const syntax = {
    selectors: findSelectors(options),
    scripts: findScripts(options),
    ...(styles ? { styles } : {}),
    ...(maskSelectors.length > 0 ? { maskColor } : {}),
    mediaFeatures,
    templates: findTemplates(options),
  }
  const { selectors, scripts, templates } = syntax
  const isWanted = styles || [selectors, scripts, templates, Object.keys(mediaFeatures)].some(({ length }) => length > 0)
  return isWanted ? { syntax } : {}
}

function findSelectors({ compareIgnore = [], ...options }: EffectiveOptions): SelectorText[] {
  const values = { ...options, compareIgnore: compareIgnore.flatMap(({ selector }) => selector ?? []) }
  return SELECTOR_OPTIONS.flatMap((name) => {
    const [option, value, isRule] = [toSnakeCase(name), values[name], name === 'hideSelectors']
    if (Array.isArray(value)) return value.map((text, index) => ({ option: `${option}[${index}]`, text, isRule }))
    const isKeyword = name === 'fullPageScrollContainer' && /^(auto|none)$/.test(String(value))
    return value === undefined || isKeyword ? [] : [{ option, text: value, isRule }]
  })
}

function findScripts({ scripts, initScript, waitForFunction }: EffectiveOptions): ScriptText[] {
  return [
    ...toTexts({ scripts }).map((one) => ({ ...one, kind: 'console' as const })),
    ...toTexts({ init_script: initScript }).map((one) => ({ ...one, kind: 'classic' as const })),
    ...toTexts({ wait_for_function: waitForFunction }).map((one) => ({ ...one, kind: 'expression' as const })),
  ]
}

const findTemplates = ({ format, pdfHeaderTemplate, pdfFooterTemplate }: EffectiveOptions): OptionText[] =>
  format === 'pdf' ? toTexts({ pdf_header_template: pdfHeaderTemplate, pdf_footer_template: pdfFooterTemplate }) : []

const toTexts = (texts: Readonly<Record<string, string | undefined>>): OptionText[] =>
  Object.entries(texts).flatMap(([option, text]) => (text ? [{ option, text }] : []))
