"""Names of research fields that a topic may be closer to than to the papers found."""

from __future__ import annotations


def _names(listed: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in listed.split(";"))


_ARXIV = _names(
    """
    computational geometry; game theory; cryptography and security; data structures and algorithms;
    databases; digital libraries; discrete mathematics; distributed, parallel and cluster computing;
    emerging technologies; formal languages and automata theory; graphics; hardware architecture;
    human-computer interaction; information theory; logic in computer science; mathematical software;
    multimedia; networking and internet architecture; neural and evolutionary computing; numerical
    analysis; operating systems; performance; programming languages; robotics; social and information
    networks; sound; symbolic computation; systems and control; econometrics; theoretical economics;
    audio and speech processing; image and video processing; signal processing; algebraic geometry;
    combinatorics; dynamical systems; number theory; optimization and control; probability; statistics
    theory; cosmology and astrophysics; earth and planetary astrophysics; condensed matter and materials
    science; superconductivity; general relativity; high energy physics; nuclear physics; accelerator
    physics; atmospheric and oceanic physics; biological physics; chemical physics; classical physics;
    fluid dynamics; geophysics; medical physics; optics; plasma physics; quantum physics; biomolecules;
    cell behavior; genomics; molecular networks; neurons and cognition; populations and evolution;
    tissues and organs; computational finance; portfolio management; risk management; statistical
    finance; trading and market microstructure; applied statistics; machine learning theory; computers
    and society"""
)
"""Categories of arXiv."""

_COMPUTATIONAL_LINGUISTICS = _names(
    """
    argument mining; computational social science and cultural analytics; dialogue systems and spoken
    conversation; discourse and pragmatics; bias and fairness in language technology; information
    extraction and entity linking; interpretability and analysis of neural models; psycholinguistics and
    cognitive modelling; machine translation; multilingual and cross-lingual language processing;
    phonology, morphology and word segmentation; lexical semantics and word embeddings; sentiment
    analysis and opinion mining; speech recognition and spoken language understanding; tagging, chunking
    and parsing; text classification and topic models; language models for medicine; language models for
    law; language models for finance; language technology in education; hate speech, misinformation and
    fact checking in social media; semantic parsing of questions to database queries"""
)
"""Tracks of conferences on computational linguistics."""

_MACHINE_LEARNING = _names(
    """
    online, offline and model-based reinforcement learning; deep reinforcement learning for games;
    bandits and exploration; multi-agent reinforcement learning; imitation learning and robot control;
    Bayesian inference and Gaussian processes; variational autoencoders; causal inference and causal
    discovery; graph neural networks; time series forecasting and anomaly detection; federated and
    distributed learning; differential privacy and unlearning; adversarial attacks and robustness;
    backdoors, jailbreaks and security of models; fairness of classifiers; transfer learning and domain
    adaptation; meta-learning and few-shot classification; continual learning; self-supervised learning
    of image representations; active and semi-supervised learning; uncertainty and calibration of
    predictions; out-of-distribution detection; kernel methods; clustering and dimensionality reduction;
    decision trees and tabular data; hyperparameter tuning and architecture search; optimizers and
    generalization of deep networks; compression, pruning and quantization of networks; hardware and
    parallel computing for large models; spiking neural networks; recommender systems and advertising;
    machine learning for molecules and drug discovery; machine learning for proteins and genomes;
    machine learning for physics and differential equations; machine learning for health records;
    machine learning for weather and climate; machine learning for chip design; watermarking and
    detection of generated content; efficient architectures for long sequences"""
)
"""Areas of conferences on machine learning."""

_COMPUTER_VISION = _names(
    """
    3D reconstruction and depth estimation; autonomous driving and trajectory prediction; biometrics and
    face recognition; document analysis and character recognition; object detection and segmentation;
    human pose, gesture and action recognition; low-level vision and image restoration; medical image
    analysis; remote sensing and satellite images; motion, optical flow and tracking; image
    classification; image captioning"""
)
"""Topics of conferences on computer vision."""

_DISCIPLINES = _names(
    """
    accounting and auditing; agriculture and crops; anthropology; archaeology; architecture and urban
    planning; art history; biochemistry and enzymes; botany; business and management; cardiology;
    chemical engineering; civil engineering; climate change; criminology; demography; dentistry; ecology
    and conservation; school education and teaching; electrical engineering; energy and power grids;
    epidemiology and public health; ethnology and folklore; food and cooking; forestry; gender studies;
    genetics; geography; geology; history; hydrology and oceans; immunology; industrial production;
    journalism and media; labour economics; law and courts; library science; linguistics and dialects;
    literature; logistics and supply chains; marine biology; marketing and consumers; materials and
    chemistry; mechanical engineering; medicine and hospitals; meteorology; microbiology; military
    studies; mining; music; neurology; nursing; nutrition; oncology; performing arts; pharmacology;
    philosophy; political science and elections; psychiatry; psychology; religion; sociology; software
    engineering practice; space flight; sports; surgery; textiles and crafts; tourism; transport and
    traffic; veterinary medicine; zoology"""
)
"""Academic disciplines, and parts of them."""

OTHER_FIELDS = (*_ARXIV, *_COMPUTATIONAL_LINGUISTICS, *_MACHINE_LEARNING, *_COMPUTER_VISION, *_DISCIPLINES)
"""All names; the fields of the starter corpus are excluded."""
