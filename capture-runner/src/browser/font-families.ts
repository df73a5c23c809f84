import type { DevTools } from './devtools.ts'

// Chromium asks fontconfig for a missing letter by language alone: it does not say whether the text is serif. What a generic family means in a
// script can only be set here. The faces themselves, and their order for each language, are in fonts/fonts.conf.

type Families = { standard?: string; serif?: string; sansSerif?: string; fixed?: string }

/** `region` as Noto's faces of Chinese, Japanese and Korean have it. */
const cjk = (region: string): Families => ({ serif: `Noto Serif CJK ${region}`, fixed: `Noto Sans Mono CJK ${region}` })

const serif = (name: string): Families => ({ serif: `Noto Serif ${name}` })

/** Generic families by script (ISO 15924). Letters that a face lacks are drawn with `standard`, Times New Roman unless set. */
const SCRIPTS: Record<string, Families> = {
  Jpan: cjk('JP'),
  Hans: cjk('SC'),
  Hant: cjk('TC'),
  Hang: cjk('KR'),
  Thai: serif('Thai'),
  Deva: serif('Devanagari'),
  Beng: serif('Bengali'),
  Guru: serif('Gurmukhi'),
  Gujr: serif('Gujarati'),
  Taml: serif('Tamil'),
  Telu: serif('Telugu'),
  Knda: serif('Kannada'),
  Mlym: serif('Malayalam'),
  Sinh: serif('Sinhala'),
  Laoo: serif('Lao'),
  Khmr: serif('Khmer'),
  Mymr: serif('Myanmar'),
  Ethi: serif('Ethiopic'),
  Armn: serif('Armenian'),
  Geor: serif('Georgian'),
  Hebr: serif('Hebrew'),
  // Chromium has one script for Arabic and Urdu, whose serif faces differ: fonts.conf chooses those by language, so that only the
  // sans-serif face is named here. Arial draws the Latin letters, which that face lacks.
  Arab: { sansSerif: 'Noto Sans Arabic', standard: 'Arial' },
}

const FONT_FAMILIES = {
  fontFamilies: {},
  forScripts: Object.entries(SCRIPTS).map(([script, fontFamilies]) => ({ script, fontFamilies })),
}

/** Gives serif text of each script a serif face. Works once for each session. */
export async function setFontFamilies(session: DevTools): Promise<void> {
  await session.send('Page.setFontFamilies', FONT_FAMILIES)
}
