"""Word lists of the offline model: phrase boundaries and cue words of facets.

Small closed lists complement lemminflect's dictionary. They replace a part-of-speech tagger, whose weights
no package index has without a download at run time.
"""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    """a an the this that these those such same other another each every any some all both few many much more
    most several own no not nor neither either only even just also too very quite rather almost nearly about
    around roughly still yet already often usually frequently sometimes always never ever once twice again
    and or but if then than so as because since while whereas although though unless until when whenever where
    wherever whether which who whom whose what why how however therefore thus hence instead otherwise moreover
    of in on at by for from to into onto over under above below between among through across during before
    after within without against toward towards upon along with per via like unlike despite beyond behind
    it its itself they them their theirs themselves he she his her we us our ours you your i me my one ones
    is are was were be been being am do does did done doing have has had having can could may might must shall
    should will would cannot need needs needed here there now today later earlier first second third last next
    hundred thousand million billion eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty dozen hundreds
    two three four five six seven eight nine ten dozens hundreds thousands millions half up down out off
    first-time at-once less least fewer enough etc e.g i.e versus vs further together apart alone far long well
    close closely directly largely mostly mainly merely simply easily strongly clearly fully partly entirely
    itself whole single given using based able unable due prior previous earlier existing recent new novel
    different various certain particular general generally specific separate additional main key good better
    best bad worse worst high higher highest low lower lowest large larger largest small smaller smallest long
    longer short shorter great strong weak hard easy rare common similar comparable early late true false real
    actual possible likely plausible useful careful automatically jointly iteratively explicitly repeatedly
    independently consistently slightly sharply considerably substantially significantly accordingly mere
    equal full expensive cheap costly slow fast untested unclear open missing wrong little lot lots way ways kind
    kinds part parts rest amount number numbers thing things case cases example examples extent need wide widely
    inside outside whatever whoever including excluding free else everything nothing anything something nobody anyone someone others""".split()
)

AMBIGUOUS_VERBS = frozenset(
    """adapted aggregate aggregates aid aids alternate alternates applied attached beat beats break breaks
    broke broken build builds call calls cast casts check checks closes collect collected collects
    combine combines comes compress compresses concatenate concerned conditioned conduct connected
    considered construct constructs contained controlled convert converts cope copes copies copy correct
    correlate correlated correlates cover covers cut cuts decrease decreases divided draw draws drift
    drifts drive drives drop drops dwell dwells end ends exploit exploits express expresses extended
    extract extracts fail feed feeds find finds fine-tune fine-tuned fine-tunes finetune fit fits formed
    freeze freezes frozen gather gathers give go goes grade grades grounded had-to hand handle handles
    hands help helps hide hides hold holds hurt implement implements included increase increased
    increases injected insert inserts isolate isolates join joins keep keeps known lack lag lags lay
    lays lead leads lean leans leave leaves led-to left limited look looks made-from make makes map maps
    masked match matches means measured meet meets miss misses mix mixed mixes move moves multiply offer
    offers pass passes pay permit permits pick picks placed pointed pose poses prepend prepends present
    presents pretrained-on proceeds produce prompts raise raises ranks re-encode re-encodes reach
    reaches read reads reasons refined reflected regress remains repeat repeats replay replays
    restricted rests return returns revised rewrite rewrites rise rises run running runs sample samples
    save saves saw say scale scales scored serve serves set sets share shares show shows simulated sort
    sorts split splits start starts stay stays steer steers stop stops studied supplies supply support
    supports swap swaps tackle tackles take takes think thought trails train trains transform transforms
    treat treats tried tries try tune tunes turn turns use used uses varied want wanted waste wastes
    yield yielding yields""".split()
)
"""Words that are verbs in abstracts, although a dictionary also has them as nouns or adjectives."""

GERUND_NOUNS = frozenset(
    """reasoning prompting planning learning training tuning fine-tuning sampling ranking re-ranking reranking judging
    editing inpainting voting grounding conditioning answering understanding embedding setting scaling pretraining
    pre-training encoding decoding denoising matching scoring modelling modeling processing engineering indexing
    retraining debugging programming browsing captioning backtracking clipping filtering parsing red-teaming
    bootstrapping grading labelling annealing routing caching pruning chunking testing writing reading""".split()
)
"""Words in -ing that can end a noun phrase (others count as verbs there)."""

CUES: dict[str, frozenset[str]] = {
    "problem": frozenset(
        """could cannot earlier previous existing prior lacked lack required needed struggled rarely
        unclear ignored difficult expensive limited failed usually had whereas""".split()
    ),
    "method": frozenset(
        """uses trains introduces proposes builds combines extends adds learns samples prompts retrieves
        generates splits alternates asks treats interleaves observes replaces organizes then each""".split()
    ),
    "finding": frozenset(
        """improved improves outperformed reached beat raised results experiments accuracy gains showed
        percent matched exceeded revealed surpassed raised solved helped benchmarks found better state-of-the-art points""".split()
    ),
    "limitation": frozenset(
        """however remains remain cannot fails fail not no guarantee rather depends depend only costly untested unclear still
        limited inherits inherit open unsolved restricted relies requires expensive lacks narrow brittle
        whether without""".split()
    ),
    "experiment": frozenset(
        """benchmark benchmarks dataset datasets evaluated experiments baselines tested accuracy results
        compared ablation metrics judged""".split()
    ),
}

DATASET_WORDS = frozenset("benchmark benchmarks dataset datasets corpus collection".split())
"""A name directly before one of these is a data set."""

KNOWN_DATASETS = frozenset(
    """gsm8k math math500 mmlu hotpotqa triviaqa popqa asqa eli5 qampari musique squad naturalquestions
    gpqa aime24 humaneval mbpp aqua svamp mathqa multiarith commonsenseqa strategyqa big-bench bbh scan
    alfworld webshop webarena mind2web osworld gaia api-bank toolbench swe-bench imagenet coco cifar-10
    cifar-100 lvis laion mt-bench alpacaeval rewardbench judgebench llmbar summeval truthfulqa superglue glue
    beir kilt litqa litqa2 peerread s2orc scidocs ms-marco wikieval halueval arena-hard flask drawbench
    partiprompts kontextbench scholarqabench discoverybench mlagentbench hellaswag winogrande drop
    fever msmarco wikitext wikitext-103 c4 pile ultrafeedback prm800k swe-bench mle-bench iirc quality amps
    aime trec wmt virtualhome arena-hard-auto 2wikimultihopqa bamboogle""".split()
)
"""Names of data sets in lower case, since their form does not distinguish them from systems."""

METRIC_WORDS = frozenset("accuracy score f1 bleu rouge fid recall precision perplexity rate elo".split())
METRIC_NAMES = frozenset("f1 bleu rouge fid elo".split())
NOT_NAMES = frozenset(
    """ai llm llms lm lms ml nlp gpu gpus tpu a100 h100 api apis api-based pdf phd phd-level json html sql
    github latex icml iclr neurips acl openai english-german english-french in-context v2 v4 o1-style
    t5-based bert-based gpt-written""".split()
)
"""Abbreviations and words in capitals that name no system, data set or metric of their own."""
GENERIC_WORDS = frozenset(
    """language model models system systems method methods approach approaches text task tasks paper papers data
    agent agents network networks training research study studies framework image images llm llms ai work""".split()
)
"""A phrase of these words only is generic."""

MODEL_FAMILIES = tuple(
    """gpt chatgpt bert scibert bart t5 flan palm llama vicuna mistral mixtral qwen qwq deepseek codex claude
    gemini o1 o3 r1 clip dall-e dino resnet stable sdxl flux llava t0 pandalm""".split()
)
"""How the names of well-known models begin, in lower case."""

MODEL_WORDS = frozenset("model models network transformer agent agents system framework".split())
