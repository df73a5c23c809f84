/** A word in one script, and the fonts that may draw it. */
export interface Sample {
  name: string
  /** Value of the attribute `lang`. Empty: the page does not declare a language. */
  lang: string
  text: string
  families: readonly string[]
  /** Value of `font-family`. Absent: the page names no font. */
  fontFamily?: string
}

const sample = (name: string, lang: string, text: string, ...families: string[]): Sample => ({ name, lang, text, families })

// Liberation in Debian 12 is older than in the image, and lacks Hebrew and some Vietnamese letters.

/**
 * The most common scripts, and other characters that are common on pages. Each sample is one word, because a space is drawn with the first
 * font.
 */
export const SAMPLES: readonly Sample[] = [
  sample('Latin', 'en', 'Hamburgefonstiv', 'Liberation Serif'),
  sample('Polish', 'pl', 'Zażółćgęśląjaźń', 'Liberation Serif'),
  sample('Vietnamese', 'vi', 'Tiếngnướcđường', 'Liberation Serif', 'Noto Sans'),
  sample('Greek', 'el', 'Ελληνικά', 'Liberation Serif'),
  sample('Cyrillic', 'ru', 'Русскийязык', 'Liberation Serif'),
  sample('Hebrew', 'he', 'עברית', 'Liberation Serif', 'Noto Sans Hebrew'),
  sample('Arabic', 'ar', 'العربية', 'Noto Naskh Arabic'),
  sample('Persian', 'fa', 'فارسی', 'Noto Naskh Arabic'),
  sample('Urdu', 'ur', 'پاکستان', 'Noto Nastaliq Urdu'),
  sample('Armenian', 'hy', 'Հայերեն', 'Noto Sans Armenian'),
  sample('Georgian', 'ka', 'ქართული', 'Noto Sans Georgian'),
  sample('Devanagari', 'hi', 'हिन्दी', 'Noto Sans Devanagari'),
  sample('Bengali', 'bn', 'বাংলা', 'Noto Sans Bengali'),
  sample('Gurmukhi', 'pa', 'ਪੰਜਾਬੀ', 'Noto Sans Gurmukhi'),
  sample('Gujarati', 'gu', 'ગુજરાતી', 'Noto Sans Gujarati'),
  sample('Oriya', 'or', 'ଓଡ଼ିଆ', 'Noto Sans Oriya'),
  sample('Tamil', 'ta', 'தமிழ்', 'Noto Sans Tamil'),
  sample('Telugu', 'te', 'తెలుగు', 'Noto Sans Telugu'),
  sample('Kannada', 'kn', 'ಕನ್ನಡ', 'Noto Sans Kannada'),
  sample('Malayalam', 'ml', 'മലയാളം', 'Noto Sans Malayalam'),
  sample('Sinhala', 'si', 'සිංහල', 'Noto Sans Sinhala'),
  sample('Thai', 'th', 'ภาษาไทย', 'Noto Sans Thai'),
  sample('Lao', 'lo', 'ພາສາລາວ', 'Noto Sans Lao'),
  sample('Tibetan', 'bo', 'བོད་ཡིག', 'Noto Serif Tibetan'),
  sample('Burmese', 'my', 'မြန်မာဘာသာ', 'Noto Sans Myanmar'),
  sample('Khmer', 'km', 'ភាសាខ្មែរ', 'Noto Sans Khmer'),
  sample('Amharic', 'am', 'አማርኛ', 'Noto Sans Ethiopic'),
  sample('Cherokee', 'chr', 'ᏣᎳᎩ', 'Noto Sans Cherokee'),
  sample('Mongolian', 'mn-Mong', 'ᠮᠣᠩᠭᠣᠯ', 'Noto Sans Mongolian'),
  sample('Chinese, simplified', 'zh-CN', '简体中文直接角', 'Noto Sans CJK SC'),
  sample('Chinese, traditional', 'zh-TW', '繁體中文直接角', 'Noto Sans CJK TC'),
  sample('Chinese of Hong Kong', 'zh-HK', '香港中文直接角', 'Noto Sans CJK HK'),
  sample('Japanese', 'ja', '日本語のひらがなとカタカナ直接角', 'Noto Sans CJK JP'),
  sample('Korean', 'ko', '한국어漢字', 'Noto Sans CJK KR'),
  sample('Han without a language', '', '中文直接角', 'Noto Sans CJK SC'),
  sample('Arabic without a language', '', 'العربية', 'Noto Sans Arabic'),
  sample('Emoji', 'en', '😀🎉🚀🇺🇦👩‍👩‍👧‍👦👍🏽❤️', 'Noto Color Emoji'),
  sample('Mathematics', 'en', '∀𝔸𝒜⟨∮⟩', 'Noto Sans Math'),
  sample('Symbols', 'en', '✓✗☃♞', 'Noto Sans Symbols2'),
]

const styled = (fontFamily: string, lang: string, text: string, family: string): Sample => ({
  name: `${fontFamily} in ${lang || 'no language'}`,
  lang,
  text,
  families: [family],
  fontFamily,
})

const CJK: readonly (readonly [lang: string, text: string, region: string])[] = [
  ['ja', '日本語のひらがな', 'JP'],
  ['zh-CN', '简体中文直接角', 'SC'],
  ['zh-TW', '繁體中文直接角', 'TC'],
  ['ko', '한국어漢字', 'KR'],
]

const SCRIPTS_WITH_SERIFS: readonly (readonly [lang: string, text: string, script: string])[] = [
  ['th', 'ภาษาไทย', 'Thai'],
  ['hi', 'हिन्दी', 'Devanagari'],
  ['mr', 'मराठी', 'Devanagari'],
  ['bn', 'বাংলা', 'Bengali'],
  ['pa', 'ਪੰਜਾਬੀ', 'Gurmukhi'],
  ['gu', 'ગુજરાતી', 'Gujarati'],
  ['ta', 'தமிழ்', 'Tamil'],
  ['te', 'తెలుగు', 'Telugu'],
  ['kn', 'ಕನ್ನಡ', 'Kannada'],
  ['ml', 'മലയാളം', 'Malayalam'],
  ['si', 'සිංහල', 'Sinhala'],
  ['lo', 'ພາສາລາວ', 'Lao'],
  ['km', 'ភាសាខ្មែរ', 'Khmer'],
  ['my', 'မြန်မာဘာသာ', 'Myanmar'],
  ['am', 'አማርኛ', 'Ethiopic'],
  ['hy', 'Հայերեն', 'Armenian'],
  ['ka', 'ქართული', 'Georgian'],
  ['he', 'עברית', 'Hebrew'],
]

const SERIF_LISTS = ['serif', 'Georgia, serif', '"Times New Roman", Times, serif']

/** Effect of `font-family`: serif fonts for serif names, sans-serif fonts for all others. */
export const FAMILY_SAMPLES: readonly Sample[] = [
  ...CJK.flatMap(([lang, text, region]) => SERIF_LISTS.map((list) => styled(list, lang, text, `Noto Serif CJK ${region}`))),
  ...CJK.map(([lang, text, region]) => styled('sans-serif', lang, text, `Noto Sans CJK ${region}`)),
  ...CJK.map(([lang, text, region]) => styled('Arial', lang, text, `Noto Sans CJK ${region}`)),
  ...CJK.map(([lang, text, region]) => styled('monospace', lang, text, `Noto Sans Mono CJK ${region}`)),
  ...SCRIPTS_WITH_SERIFS.flatMap(([lang, text, script]) => [
    ...SERIF_LISTS.filter((list) => lang !== 'he' || list === 'serif').map((list) => styled(list, lang, text, `Noto Serif ${script}`)),
    ...(lang === 'he' ? [] : [styled('sans-serif', lang, text, `Noto Sans ${script}`)]),
  ]),
  ...[...SERIF_LISTS, '"Times New Roman"'].flatMap((list) => [
    styled(list, 'ar', 'العربية', 'Noto Naskh Arabic'),
    styled(list, 'ar-EG', 'العربية', 'Noto Naskh Arabic'),
    styled(list, 'fa', 'فارسی', 'Noto Naskh Arabic'),
    styled(list, 'ur', 'پاکستان', 'Noto Nastaliq Urdu'),
    styled(list, 'ur-PK', 'پاکستان', 'Noto Nastaliq Urdu'),
  ]),
  ...['ar', 'fa', 'ur'].flatMap((lang) =>
    ['sans-serif', 'Arial, sans-serif', 'Roboto, sans-serif'].map((list) => styled(list, lang, 'العربية', 'Noto Sans Arabic')),
  ),
  // Latin letters keep the style of the list, even if the font of the language has none.
  ...['ar', 'ur', 'th', 'hi', 'he'].flatMap((lang) => [
    styled('serif', lang, 'Latin', 'Liberation Serif'),
    styled('sans-serif', lang, 'Latin', 'Liberation Sans'),
  ]),
]

/** The page, with one row per sample. */
export const scriptsPage = (samples: readonly Sample[] = SAMPLES): string => {
  const rows = samples.map(
    ({ name, lang, text, fontFamily }) =>
      `<tr><th>${name}<td><span class="sample"${lang ? ` lang="${lang}"` : ''}${fontFamily ? ` style='font-family:${fontFamily}'` : ''}>${text}</span>`,
  )
  return `<!doctype html><meta charset="utf-8"><title>Scripts</title><body style="margin:24px;background:#fff;color:#000">
<style>th{font:14px Arial;text-align:left;width:220px} .sample{font-size:28px}</style><table>${rows.join('\n')}</table>`
}
