/** A word in one script, and the faces that may draw it. */
export interface Sample {
  name: string
  /** As in the attribute `lang`; empty: the page does not say. */
  lang: string
  text: string
  families: readonly string[]
}

const sample = (name: string, lang: string, text: string, ...families: string[]): Sample => ({ name, lang, text, families })

// Debian 12 has an older Liberation than the image, without Hebrew and some letters of Vietnamese.

/** Scripts that most of the world's pages are written in, and what else pages are full of. One word each: a space is the first face's. */
export const SAMPLES: readonly Sample[] = [
  sample('Latin', 'en', 'Hamburgefonstiv', 'Liberation Serif'),
  sample('Polish', 'pl', 'Zażółćgęśląjaźń', 'Liberation Serif'),
  sample('Vietnamese', 'vi', 'Tiếngnướcđường', 'Liberation Serif', 'Noto Sans'),
  sample('Greek', 'el', 'Ελληνικά', 'Liberation Serif'),
  sample('Cyrillic', 'ru', 'Русскийязык', 'Liberation Serif'),
  sample('Hebrew', 'he', 'עברית', 'Liberation Serif', 'Noto Sans Hebrew'),
  sample('Arabic', 'ar', 'العربية', 'Noto Sans Arabic'),
  sample('Persian', 'fa', 'فارسی', 'Noto Sans Arabic'),
  sample('Urdu', 'ur', 'اردو', 'Noto Sans Arabic'),
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

/** The page: a row for each sample, as a page whose style sheet names no face would show it. */
export const scriptsPage = (samples: readonly Sample[] = SAMPLES): string => {
  const rows = samples.map(
    ({ name, lang, text }) => `<tr><th>${name}<td><span class="sample"${lang ? ` lang="${lang}"` : ''}>${text}</span>`,
  )
  return `<!doctype html><meta charset="utf-8"><title>Scripts</title><body style="margin:24px;background:#fff;color:#000">
<style>th{font:14px Arial;text-align:left;width:220px} .sample{font-size:28px}</style><table>${rows.join('\n')}</table>`
}
